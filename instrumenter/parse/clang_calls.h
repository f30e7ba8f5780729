/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clang_calls.h - libclang, loaded when the first unit is parsed.
 *
 * If linked in the usual way, it would be loaded whenever vprof starts, also to link a program or for a
 * compile that needs no parse: 100 MB with half a million relocations, which take 17 ms.
 *
 *	if (!clang_calls_load())
 *		...
 *	clang_createIndex(0, 0);	is clang_calls.createIndex(0, 0)
 */
#ifndef INSTRUMENTER_PARSE_CLANG_CALLS_H
#define INSTRUMENTER_PARSE_CLANG_CALLS_H

#include <clang-c/Index.h>
#include <stdbool.h>

#define CLANG_CALLS(X) \
	X(CXXMethod_isDefaulted) X(CXXMethod_isVirtual) X(Cursor_getArgument) X(Cursor_getMangling) \
	X(Cursor_getNumArguments) X(Cursor_getStorageClass) X(Cursor_hasAttrs) \
	X(Cursor_isDynamicCall) X(Cursor_isFunctionInlined) X(Cursor_isNull) X(Cursor_isVariadic) \
	X(PrintingPolicy_dispose) X(PrintingPolicy_setProperty) X(Type_getNumTemplateArguments) \
	X(Type_getTemplateArgumentAsType) X(createIndex) X(disposeDiagnostic) \
	X(disposeIndex) X(disposeOverriddenCursors) X(disposeString) X(disposeTranslationUnit) \
	X(equalCursors) X(equalLocations) X(getCString) X(getCanonicalType) X(getClangVersion) \
	X(getCursorDefinition) X(getCursorDisplayName) X(getCursorExceptionSpecificationType) X(getCursorExtent) \
	X(getCursorKind) X(getCursorLinkage) \
	X(getCursorLocation) X(getCursorPrettyPrinted) X(getCursorPrintingPolicy) \
	X(getCursorReferenced) X(getCursorResultType) X(getCursorSemanticParent) \
	X(getCursorSpelling) X(getCursorType) X(getDiagnostic) X(getDiagnosticLocation) \
	X(getDiagnosticSeverity) X(getDiagnosticSpelling) X(getFileLocation) X(getNullCursor) \
	X(getNumDiagnostics) X(getOverriddenCursors) X(getPointeeType) X(getRangeEnd) \
	X(getRangeStart) X(getSpecializedCursorTemplate) X(getTranslationUnitCursor) \
	X(getTypeDeclaration) X(getTypeSpelling) X(isCursorDefinition) X(isDeclaration) X(isExpression) X(isInvalid) X(isReference) \
	X(parseTranslationUnit2) X(visitChildren)

struct clang_calls {
#define X(name) __typeof__(&clang_##name) name;
	CLANG_CALLS(X)
#undef X
};

extern struct clang_calls clang_calls;

/* Loads libclang once; false: it is missing, or the wrong one, and *ret_why (may be NULL) says so.  *ret_why is never
 * freed. */
bool clang_calls_load(const char **ret_why);

#define clang_CXXMethod_isDefaulted clang_calls.CXXMethod_isDefaulted
#define clang_CXXMethod_isVirtual clang_calls.CXXMethod_isVirtual
#define clang_Cursor_getArgument clang_calls.Cursor_getArgument
#define clang_Cursor_getMangling clang_calls.Cursor_getMangling
#define clang_Cursor_getNumArguments clang_calls.Cursor_getNumArguments
#define clang_Cursor_getStorageClass clang_calls.Cursor_getStorageClass
#define clang_Cursor_hasAttrs clang_calls.Cursor_hasAttrs
#define clang_Cursor_isDynamicCall clang_calls.Cursor_isDynamicCall
#define clang_Cursor_isFunctionInlined clang_calls.Cursor_isFunctionInlined
#define clang_Cursor_isNull clang_calls.Cursor_isNull
#define clang_Cursor_isVariadic clang_calls.Cursor_isVariadic
#define clang_PrintingPolicy_dispose clang_calls.PrintingPolicy_dispose
#define clang_PrintingPolicy_setProperty clang_calls.PrintingPolicy_setProperty
#define clang_Type_getNumTemplateArguments clang_calls.Type_getNumTemplateArguments
#define clang_Type_getTemplateArgumentAsType clang_calls.Type_getTemplateArgumentAsType
#define clang_createIndex clang_calls.createIndex
#define clang_disposeDiagnostic clang_calls.disposeDiagnostic
#define clang_disposeIndex clang_calls.disposeIndex
#define clang_disposeOverriddenCursors clang_calls.disposeOverriddenCursors
#define clang_disposeString clang_calls.disposeString
#define clang_disposeTranslationUnit clang_calls.disposeTranslationUnit
#define clang_equalCursors clang_calls.equalCursors
#define clang_equalLocations clang_calls.equalLocations
#define clang_getCString clang_calls.getCString
#define clang_getCanonicalType clang_calls.getCanonicalType
#define clang_getClangVersion clang_calls.getClangVersion
#define clang_getCursorDefinition clang_calls.getCursorDefinition
#define clang_getCursorDisplayName clang_calls.getCursorDisplayName
#define clang_getCursorExceptionSpecificationType clang_calls.getCursorExceptionSpecificationType
#define clang_getCursorExtent clang_calls.getCursorExtent
#define clang_getCursorKind clang_calls.getCursorKind
#define clang_getCursorLinkage clang_calls.getCursorLinkage
#define clang_getCursorLocation clang_calls.getCursorLocation
#define clang_getCursorPrettyPrinted clang_calls.getCursorPrettyPrinted
#define clang_getCursorPrintingPolicy clang_calls.getCursorPrintingPolicy
#define clang_getCursorReferenced clang_calls.getCursorReferenced
#define clang_getCursorResultType clang_calls.getCursorResultType
#define clang_getCursorSemanticParent clang_calls.getCursorSemanticParent
#define clang_getCursorSpelling clang_calls.getCursorSpelling
#define clang_getCursorType clang_calls.getCursorType
#define clang_getDiagnostic clang_calls.getDiagnostic
#define clang_getDiagnosticLocation clang_calls.getDiagnosticLocation
#define clang_getDiagnosticSeverity clang_calls.getDiagnosticSeverity
#define clang_getDiagnosticSpelling clang_calls.getDiagnosticSpelling
#define clang_getFileLocation clang_calls.getFileLocation
#define clang_getNullCursor clang_calls.getNullCursor
#define clang_getNumDiagnostics clang_calls.getNumDiagnostics
#define clang_getOverriddenCursors clang_calls.getOverriddenCursors
#define clang_getPointeeType clang_calls.getPointeeType
#define clang_getRangeEnd clang_calls.getRangeEnd
#define clang_getRangeStart clang_calls.getRangeStart
#define clang_getSpecializedCursorTemplate clang_calls.getSpecializedCursorTemplate
#define clang_getTranslationUnitCursor clang_calls.getTranslationUnitCursor
#define clang_getTypeDeclaration clang_calls.getTypeDeclaration
#define clang_getTypeSpelling clang_calls.getTypeSpelling
#define clang_isCursorDefinition clang_calls.isCursorDefinition
#define clang_isDeclaration clang_calls.isDeclaration
#define clang_isExpression clang_calls.isExpression
#define clang_isInvalid clang_calls.isInvalid
#define clang_isReference clang_calls.isReference
#define clang_parseTranslationUnit2 clang_calls.parseTranslationUnit2
#define clang_visitChildren clang_calls.visitChildren

#endif
