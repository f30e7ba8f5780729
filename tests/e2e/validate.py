#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""validate.py SCHEMAS FILE...: does each JSON document agree with the schema that it names?

validate.py --mutate SCHEMAS FILE...: the schemas notice a mistake.  Of each document every field is taken away and
misspelt, one at a time (fields of the entries of one list count as one); both have to be refused.  Fields that a
schema does not require may be missing, but not misspelt.

Prints what is wrong; exit 1 if something is, 77 where there is no validator (Debian: python3-jsonschema).
"""
import copy
import json
import os
import re
import sys
import warnings

warnings.simplefilter("ignore", DeprecationWarning)
try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("validate.py: no validator of JSON Schema 2020-12; Debian: apt-get install python3-jsonschema")
    sys.exit(77)


def read(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def validators(directory):
    """By name, "vprof.factors/1"."""
    schemas = {f: read(os.path.join(directory, f)) for f in sorted(os.listdir(directory)) if f.endswith(".json")}
    for name, schema in schemas.items():
        Draft202012Validator.check_schema(schema)
        if schema["$id"] != name:
            sys.exit("%s: its $id is %s" % (name, schema["$id"]))
    try:
        from referencing import Registry, Resource
        registry = Registry().with_resources((n, Resource.from_contents(s)) for n, s in schemas.items())
        made = {n: Draft202012Validator(s, registry=registry) for n, s in schemas.items()}
    except (ImportError, TypeError):    # before jsonschema 4.18
        from jsonschema import RefResolver
        made = {n: Draft202012Validator(s, resolver=RefResolver(n, s, store=dict(schemas))) for n, s in schemas.items()}
    return {"vprof.%s/1" % n[:-5]: v for n, v in made.items() if n != "common.json"}


def mistakes(v, document):
    return ["%s: %s" % ("/".join(map(str, e.absolute_path)) or "document", e.message[:200])
            for e in v.iter_errors(document)]


def objects(value, path=()):
    """Each object in the document, with its path."""
    if isinstance(value, dict):
        yield path, value
        for key, inner in value.items():
            yield from objects(inner, path + (key,))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from objects(inner, path + (i,))


def changed(document, path, key, misspelt):
    other = copy.deepcopy(document)
    at = other
    for step in path:
        at = at[step]
    value = at.pop(key)
    if misspelt:
        at[key + "x"] = value
    return other


def optional(directory):
    """Names of the fields that some schema does not require."""
    names = set()
    for f in os.listdir(directory):
        for _, schema in objects(read(os.path.join(directory, f))):
            if isinstance(schema.get("properties"), dict) and isinstance(schema.get("required"), list):
                names |= set(schema["properties"]) - set(schema["required"])
    return names


def mutate(v, document, may_miss, seen):
    """What the schema did not notice."""
    for path, o in objects(document):
        for key in o:
            where = (document["schema"], re.sub(r"\d+", "N", "/".join(map(str, path + (key,)))))
            if where in seen:
                continue
            seen.add(where)
            if not mistakes(v, changed(document, path, key, True)):
                yield "%s: '%s' misspelt" % where
            if key not in may_miss and not mistakes(v, changed(document, path, key, False)):
                yield "%s: '%s' missing" % where


def main(argv):
    mutating = argv[1:2] == ["--mutate"]
    directory, files = argv[1 + mutating], argv[2 + mutating:]
    known, wrong, seen = validators(directory), 0, set()
    may_miss = optional(directory)
    names = set()
    for path in files:
        try:
            document = read(path)
        except ValueError as e:
            document = {"schema": "unreadable: %s" % e}
        v = known.get(document.get("schema"))
        if not v:
            found = ["there is no schema '%s'" % document.get("schema")]
        else:
            names.add(document["schema"])
            found = mutate(v, document, may_miss, seen) if mutating else mistakes(v, document)
        for text in found:
            print("%s: %s" % (path, text))
            wrong += 1
    for name in sorted(set(known) - names):
        print("no document of schema '%s' was looked at" % name)
        wrong += 1
    print("%d documents, %d schemas%s, %d mistakes" %
          (len(files), len(known), ", %d fields taken away or misspelt" % len(seen) if mutating else "", wrong))
    return 1 if wrong or not files else 0


sys.exit(main(sys.argv))
