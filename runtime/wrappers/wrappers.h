/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrappers.h - the C library's primitives that the runtime wraps: one row each.
 *
 *	X(return type, NAME, (parameters), (arguments))
 *
 * An instrumented unit calls vprof_w_NAME instead of NAME (annotations' *.sync list the same names as
 * "builtin"), and so do the libraries of a recorded program (plt_hooks.c).  Each behaves exactly like
 * NAME: results, errno, cancellation, robust mutexes.  It calls the C library through real.h.
 * vprof_x_NAME is the same under another name, by which the weak hidden vprof_w_NAME of an object
 * that was linked without the runtime finds it (instrumenter/insert/sync.c).
 *
 * A function with "..." takes as many words as a system call has.
 */
#ifndef RUNTIME_WRAPPERS_WRAPPERS_H
#define RUNTIME_WRAPPERS_WRAPPERS_H

#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define LOCK_WRAPPERS(X)									\
	X(int, pthread_mutex_lock, (pthread_mutex_t *m), (m))					\
	X(int, pthread_mutex_trylock, (pthread_mutex_t *m), (m))				\
	X(int, pthread_mutex_timedlock, (pthread_mutex_t *m, const struct timespec *until),	\
	  (m, until))										\
	X(int, pthread_mutex_clocklock,								\
	  (pthread_mutex_t *m, clockid_t clock, const struct timespec *until), (m, clock, until)) \
	X(int, pthread_mutex_unlock, (pthread_mutex_t *m), (m))					\
	X(int, pthread_rwlock_rdlock, (pthread_rwlock_t *l), (l))				\
	X(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t *l), (l))				\
	X(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t *l, const struct timespec *until),	\
	  (l, until))										\
	X(int, pthread_rwlock_clockrdlock,							\
	  (pthread_rwlock_t *l, clockid_t clock, const struct timespec *until), (l, clock, until)) \
	X(int, pthread_rwlock_wrlock, (pthread_rwlock_t *l), (l))				\
	X(int, pthread_rwlock_trywrlock, (pthread_rwlock_t *l), (l))				\
	X(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t *l, const struct timespec *until),	\
	  (l, until))										\
	X(int, pthread_rwlock_clockwrlock,							\
	  (pthread_rwlock_t *l, clockid_t clock, const struct timespec *until), (l, clock, until)) \
	X(int, pthread_rwlock_unlock, (pthread_rwlock_t *l), (l))				\
	X(int, pthread_spin_lock, (pthread_spinlock_t *l), (l))					\
	X(int, pthread_spin_trylock, (pthread_spinlock_t *l), (l))				\
	X(int, pthread_spin_unlock, (pthread_spinlock_t *l), (l))				\
	X(int, sem_wait, (sem_t *s), (s))							\
	X(int, sem_trywait, (sem_t *s), (s))							\
	X(int, sem_timedwait, (sem_t *s, const struct timespec *until), (s, until))		\
	X(int, sem_clockwait, (sem_t *s, clockid_t clock, const struct timespec *until),	\
	  (s, clock, until))									\
	X(int, sem_post, (sem_t *s), (s))

#define COND_WRAPPERS(X)									\
	X(int, pthread_cond_wait, (pthread_cond_t *c, pthread_mutex_t *m), (c, m))		\
	X(int, pthread_cond_timedwait,								\
	  (pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until), (c, m, until))	\
	X(int, pthread_cond_clockwait,								\
	  (pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *until), \
	  (c, m, clock, until))									\
	X(int, pthread_cond_signal, (pthread_cond_t *c), (c))					\
	X(int, pthread_cond_broadcast, (pthread_cond_t *c), (c))				\
	X(int, pthread_barrier_wait, (pthread_barrier_t *b), (b))				\
	X(int, pthread_once, (pthread_once_t *once, void (*routine)(void)), (once, routine))	\
	X(long, syscall, (long number, long a, long b, long c, long d, long e, long f),		\
	  (number, a, b, c, d, e, f))

#define C11_WRAPPERS(X)										\
	X(int, mtx_lock, (mtx_t *m), (m))							\
	X(int, mtx_trylock, (mtx_t *m), (m))							\
	X(int, mtx_timedlock, (mtx_t *m, const struct timespec *until), (m, until))		\
	X(int, mtx_unlock, (mtx_t *m), (m))							\
	X(int, cnd_wait, (cnd_t *c, mtx_t *m), (c, m))						\
	X(int, cnd_timedwait, (cnd_t *c, mtx_t *m, const struct timespec *until), (c, m, until)) \
	X(int, cnd_signal, (cnd_t *c), (c))							\
	X(int, cnd_broadcast, (cnd_t *c), (c))							\
	X(void, call_once, (once_flag *once, void (*routine)(void)), (once, routine))		\
	X(int, thrd_create, (thrd_t *ret, thrd_start_t routine, void *arg), (ret, routine, arg)) \
	X(int, thrd_join, (thrd_t thread, int *ret), (thread, ret))

#define LIFETIME_WRAPPERS(X)									\
	X(int, pthread_create,									\
	  (pthread_t *ret, const pthread_attr_t *attr, void *(*routine)(void *), void *arg),	\
	  (ret, attr, routine, arg))								\
	X(int, pthread_join, (pthread_t thread, void **ret), (thread, ret))			\
	X(int, pthread_timedjoin_np, (pthread_t thread, void **ret, const struct timespec *until), \
	  (thread, ret, until))									\
	X(int, pthread_clockjoin_np,								\
	  (pthread_t thread, void **ret, clockid_t clock, const struct timespec *until),	\
	  (thread, ret, clock, until))								\
	X(pid_t, wait, (int *status), (status))							\
	X(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options))	\
	X(pid_t, wait3, (int *status, int options, struct rusage *usage), (status, options, usage)) \
	X(pid_t, wait4, (pid_t pid, int *status, int options, struct rusage *usage),		\
	  (pid, status, options, usage))							\
	X(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options),			\
	  (type, id, info, options))								\
	X(int, system, (const char *command), (command))					\
	X(int, pclose, (FILE *stream), (stream))

#define SLEEP_WRAPPERS(X)									\
	X(int, thrd_sleep, (const struct timespec *length, struct timespec *left), (length, left)) \
	X(unsigned int, sleep, (unsigned int seconds), (seconds))				\
	X(int, usleep, (useconds_t usec), (usec))						\
	X(int, nanosleep, (const struct timespec *length, struct timespec *left), (length, left)) \
	X(int, clock_nanosleep,									\
	  (clockid_t clock, int flags, const struct timespec *length, struct timespec *left),	\
	  (clock, flags, length, left))

#define SIGNAL_WRAPPERS(X)									\
	X(int, sigwait, (const sigset_t *set, int *ret), (set, ret))				\
	X(int, sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info))		\
	X(int, sigtimedwait,									\
	  (const sigset_t *set, siginfo_t *info, const struct timespec *length),		\
	  (set, info, length))									\
	X(int, sigsuspend, (const sigset_t *mask), (mask))					\
	X(int, pause, (void), ())								\
	X(int, kill, (pid_t pid, int number), (pid, number))					\
	X(int, sigqueue, (pid_t pid, int number, const union sigval value), (pid, number, value)) \
	X(int, pthread_kill, (pthread_t thread, int number), (thread, number))			\
	X(int, pthread_sigqueue, (pthread_t thread, int number, const union sigval value),	\
	  (thread, number, value))								\
	X(int, tgkill, (pid_t pid, pid_t tid, int number), (pid, tid, number))

/* Reads and writes, by what the file can be.  The first argument is the file. */
#define READ_DATA_WRAPPERS(X)									\
	X(ssize_t, read, (int fd, void *data, size_t len), (fd, data, len))

#define READ_WRAPPERS(X)									\
	X(ssize_t, readv, (int fd, const struct iovec *parts, int cnt), (fd, parts, cnt))	\
	X(ssize_t, preadv2, (int fd, const struct iovec *parts, int cnt, off_t at, int flags),	\
	  (fd, parts, cnt, at, flags))								\
	X(int, eventfd_read, (int fd, eventfd_t *value), (fd, value))

#define RECEIVE_WRAPPERS(X)									\
	X(ssize_t, recv, (int fd, void *data, size_t len, int flags), (fd, data, len, flags))	\
	X(ssize_t, recvfrom,									\
	  (int fd, void *data, size_t len, int flags, struct sockaddr *from, socklen_t *from_len), \
	  (fd, data, len, flags, from, from_len))						\
	X(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))	\
	X(int, recvmmsg,									\
	  (int fd, struct mmsghdr *messages, unsigned int cnt, int flags, struct timespec *length), \
	  (fd, messages, cnt, flags, length))							\
	X(int, accept, (int fd, struct sockaddr *from, socklen_t *from_len), (fd, from, from_len)) \
	X(int, accept4, (int fd, struct sockaddr *from, socklen_t *from_len, int flags),	\
	  (fd, from, from_len, flags))

#define MQ_RECEIVE_WRAPPERS(X)									\
	X(ssize_t, mq_receive, (mqd_t fd, char *data, size_t len, unsigned int *priority),	\
	  (fd, data, len, priority))								\
	X(ssize_t, mq_timedreceive,								\
	  (mqd_t fd, char *data, size_t len, unsigned int *priority, const struct timespec *until), \
	  (fd, data, len, priority, until))

#define WRITE_WRAPPERS(X)									\
	X(ssize_t, write, (int fd, const void *data, size_t len), (fd, data, len))		\
	X(ssize_t, writev, (int fd, const struct iovec *parts, int cnt), (fd, parts, cnt))	\
	X(ssize_t, pwritev2, (int fd, const struct iovec *parts, int cnt, off_t at, int flags),	\
	  (fd, parts, cnt, at, flags))								\
	X(int, eventfd_write, (int fd, eventfd_t value), (fd, value))

#define SEND_WRAPPERS(X)									\
	X(ssize_t, send, (int fd, const void *data, size_t len, int flags), (fd, data, len, flags)) \
	X(ssize_t, sendto,									\
	  (int fd, const void *data, size_t len, int flags, const struct sockaddr *to,		\
	   socklen_t to_len), (fd, data, len, flags, to, to_len))				\
	X(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags)) \
	X(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned int cnt, int flags),	\
	  (fd, messages, cnt, flags))

#define MQ_SEND_WRAPPERS(X)									\
	X(int, mq_send, (mqd_t fd, const char *data, size_t len, unsigned int priority),	\
	  (fd, data, len, priority))								\
	X(int, mq_timedsend,									\
	  (mqd_t fd, const char *data, size_t len, unsigned int priority,			\
	   const struct timespec *until), (fd, data, len, priority, until))

#define CONNECT_WRAPPERS(X)									\
	X(int, connect, (int fd, const struct sockaddr *to, socklen_t to_len), (fd, to, to_len)) \
	X(int, socketpair, (int domain, int type, int protocol, int ends[2]),			\
	  (domain, type, protocol, ends))

#define STREAM_WRAPPERS(X)									\
	READ_DATA_WRAPPERS(X) READ_WRAPPERS(X) RECEIVE_WRAPPERS(X) MQ_RECEIVE_WRAPPERS(X)				\
	WRITE_WRAPPERS(X) SEND_WRAPPERS(X) MQ_SEND_WRAPPERS(X) CONNECT_WRAPPERS(X)

#define POLL_WRAPPERS(X)									\
	X(int, poll, (struct pollfd *files, nfds_t cnt, int ms), (files, cnt, ms))		\
	X(int, ppoll,										\
	  (struct pollfd *files, nfds_t cnt, const struct timespec *length, const sigset_t *mask), \
	  (files, cnt, length, mask))								\
	X(int, select, (int cnt, fd_set *in, fd_set *out, fd_set *odd, struct timeval *length),	\
	  (cnt, in, out, odd, length))								\
	X(int, pselect,										\
	  (int cnt, fd_set *in, fd_set *out, fd_set *odd, const struct timespec *length,	\
	   const sigset_t *mask), (cnt, in, out, odd, length, mask))				\
	X(int, epoll_wait, (int fd, struct epoll_event *events, int cnt, int ms),		\
	  (fd, events, cnt, ms))								\
	X(int, epoll_pwait,									\
	  (int fd, struct epoll_event *events, int cnt, int ms, const sigset_t *mask),		\
	  (fd, events, cnt, ms, mask))								\
	X(int, epoll_pwait2,									\
	  (int fd, struct epoll_event *events, int cnt, const struct timespec *length,		\
	   const sigset_t *mask), (fd, events, cnt, length, mask))				\
	X(int, epoll_ctl, (int fd, int op, int file, struct epoll_event *event),		\
	  (fd, op, file, event))

/* From one file to another. */
#define COPY_WRAPPERS(X)									\
	X(ssize_t, sendfile, (int to, int from, off_t *at, size_t len), (to, from, at, len))	\
	X(ssize_t, splice,									\
	  (int from, off64_t *from_at, int to, off64_t *to_at, size_t len, unsigned int flags),	\
	  (from, from_at, to, to_at, len, flags))						\
	X(ssize_t, tee, (int from, int to, size_t len, unsigned int flags), (from, to, len, flags)) \
	X(ssize_t, vmsplice, (int fd, const struct iovec *parts, size_t cnt, unsigned int flags), \
	  (fd, parts, cnt, flags))								\
	X(ssize_t, copy_file_range,								\
	  (int from, off64_t *from_at, int to, off64_t *to_at, size_t len, unsigned int flags),	\
	  (from, from_at, to, to_at, len, flags))

/* Files on disks, and other calls that take their time.  Those that write come first. */
#define DISK_WRITE_WRAPPERS(X)									\
	X(ssize_t, pwrite, (int fd, const void *data, size_t len, off_t at), (fd, data, len, at)) \
	X(ssize_t, pwritev, (int fd, const struct iovec *parts, int cnt, off_t at),		\
	  (fd, parts, cnt, at))

#define DISK_WRAPPERS(X)									\
	X(ssize_t, pread, (int fd, void *data, size_t len, off_t at), (fd, data, len, at))	\
	X(ssize_t, preadv, (int fd, const struct iovec *parts, int cnt, off_t at), (fd, parts, cnt, at)) \
	X(int, fsync, (int fd), (fd))								\
	X(int, fdatasync, (int fd), (fd))							\
	X(int, syncfs, (int fd), (fd))								\
	X(int, sync_file_range, (int fd, off64_t at, off64_t len, unsigned int flags),		\
	  (fd, at, len, flags))									\
	X(int, msync, (void *address, size_t len, int flags), (address, len, flags))		\
	X(int, getaddrinfo,									\
	  (const char *name, const char *service, const struct addrinfo *hints,			\
	   struct addrinfo **ret), (name, service, hints, ret))

#define SYSV_WRAPPERS(X)									\
	X(int, semop, (int set, struct sembuf *ops, size_t cnt), (set, ops, cnt))		\
	X(int, semtimedop,									\
	  (int set, struct sembuf *ops, size_t cnt, const struct timespec *length),		\
	  (set, ops, cnt, length))								\
	X(ssize_t, msgrcv, (int queue, void *message, size_t len, long type, int flags),	\
	  (queue, message, len, type, flags))							\
	X(int, msgsnd, (int queue, const void *message, size_t len, int flags),			\
	  (queue, message, len, flags))								\
	X(int, flock, (int fd, int op), (fd, op))						\
	X(int, lockf, (int fd, int op, off_t len), (fd, op, len))				\
	X(int, fcntl, (int fd, int op, long arg), (fd, op, arg))

/* OpenMP's locks: what a program calls itself.  What the compiler writes is among the aliases. */
#define OMP_WRAPPERS(X)										\
	X(void, omp_set_lock, (void *lock), (lock))						\
	X(void, omp_unset_lock, (void *lock), (lock))						\
	X(void, omp_set_nest_lock, (void *lock), (lock))					\
	X(void, omp_unset_nest_lock, (void *lock), (lock))

#define RUNTIME_WRAPPERS(X)									\
	LOCK_WRAPPERS(X) COND_WRAPPERS(X) C11_WRAPPERS(X) LIFETIME_WRAPPERS(X)			\
	SLEEP_WRAPPERS(X) OMP_WRAPPERS(X)							\
	SIGNAL_WRAPPERS(X) STREAM_WRAPPERS(X) POLL_WRAPPERS(X) COPY_WRAPPERS(X)			\
	DISK_WRITE_WRAPPERS(X) DISK_WRAPPERS(X) SYSV_WRAPPERS(X)

/* Other names of the same functions, to which headers redirect (_FORTIFY_SOURCE, _FILE_OFFSET_BITS).  The
 * parsed text does not contain them, so only plt_hooks.c finds them. */
#define READ_ALIASES(X)										\
	X(ssize_t, __read_chk, (int fd, void *data, size_t len, size_t room), (fd, data, len, room))

#define READ_PARTS_ALIASES(X)									\
	X(ssize_t, preadv64v2, (int fd, const struct iovec *parts, int cnt, off64_t at, int flags), \
	  (fd, parts, cnt, at, flags))

#define WRITE_PARTS_ALIASES(X)									\
	X(ssize_t, pwritev64v2, (int fd, const struct iovec *parts, int cnt, off64_t at, int flags), \
	  (fd, parts, cnt, at, flags))

#define COPY_ALIASES(X)										\
	X(ssize_t, sendfile64, (int to, int from, off_t *at, size_t len), (to, from, at, len))

#define RECEIVE_ALIASES(X)									\
	X(ssize_t, __recv_chk, (int fd, void *data, size_t len, size_t room, int flags),	\
	  (fd, data, len, room, flags))								\
	X(ssize_t, __recvfrom_chk,								\
	  (int fd, void *data, size_t len, size_t room, int flags, struct sockaddr *from,	\
	   socklen_t *from_len), (fd, data, len, room, flags, from, from_len))

#define POLL_ALIASES(X)										\
	X(int, __poll_chk, (struct pollfd *files, nfds_t cnt, int ms, size_t room),		\
	  (files, cnt, ms, room))								\
	X(int, __ppoll_chk,									\
	  (struct pollfd *files, nfds_t cnt, const struct timespec *length,			\
	   const sigset_t *mask, size_t room), (files, cnt, length, mask, room))

#define DISK_ALIASES(X)										\
	X(ssize_t, __pread_chk, (int fd, void *data, size_t len, off_t at, size_t room),	\
	  (fd, data, len, at, room))								\
	X(ssize_t, __pread64_chk, (int fd, void *data, size_t len, off64_t at, size_t room),	\
	  (fd, data, len, at, room))								\
	X(ssize_t, pread64, (int fd, void *data, size_t len, off64_t at), (fd, data, len, at))	\
	X(ssize_t, preadv64, (int fd, const struct iovec *parts, int cnt, off64_t at),		\
	  (fd, parts, cnt, at))

#define DISK_WRITE_ALIASES(X)									\
	X(ssize_t, pwrite64, (int fd, const void *data, size_t len, off64_t at), (fd, data, len, at)) \
	X(ssize_t, pwritev64, (int fd, const struct iovec *parts, int cnt, off64_t at),		\
	  (fd, parts, cnt, at))

/* Calls that share memory between processes (mapping.c).  They do not wait; it is enough that plt_hooks.c
 * finds them, which costs a unit nothing. */
#define MAPPING_ALIASES(X)									\
	X(void *, mmap, (void *at, size_t len, int prot, int flags, int fd, off_t offset),	\
	  (at, len, prot, flags, fd, offset))							\
	X(void *, mmap64, (void *at, size_t len, int prot, int flags, int fd, off64_t offset),	\
	  (at, len, prot, flags, fd, offset))							\
	X(void *, mremap, (void *at, size_t len, size_t new_len, int flags, long to),		\
	  (at, len, new_len, flags, to))							\
	X(int, munmap, (void *at, size_t len), (at, len))					\
	X(void *, shmat, (int id, const void *at, int flags), (id, at, flags))			\
	X(int, shmdt, (const void *at), (at))							\
	X(sem_t *, sem_open, (const char *name, int flags, long mode, long value),		\
	  (name, flags, mode, value))

/* Calls that close files (close.c), or say what a file is, found the same way. */
#define CLOSING_ALIASES(X)									\
	X(int, close, (int fd), (fd))								\
	X(int, shutdown, (int fd, int how), (fd, how))						\
	X(int, fclose, (FILE *stream), (stream))						\
	X(int, dup2, (int fd, int to), (fd, to))						\
	X(int, dup3, (int fd, int to, int flags), (fd, to, flags))				\
	X(int, eventfd, (unsigned int value, int flags), (value, flags))			\
	X(int, listen, (int fd, int backlog), (fd, backlog))					\
	X(void, _exit, (int status), (status))							\
	X(void, _Exit, (int status), (status))

/* Calls that switch stacks (stacks.c), found the same way. */
#define STACK_ALIASES(X)									\
	X(int, swapcontext, (ucontext_t *from, const ucontext_t *to), (from, to))		\
	X(int, setcontext, (const ucontext_t *to), (to))

/* Calls that end others without a return (jump.c), found the same way. */
#define JUMP_ALIASES(X)										\
	X(void, longjmp, (void *buffer, int value), (buffer, value))				\
	X(void, _longjmp, (void *buffer, int value), (buffer, value))				\
	X(void, siglongjmp, (void *buffer, int value), (buffer, value))				\
	X(void, __longjmp_chk, (void *buffer, int value), (buffer, value))

/* Calls that create files which no write feeds (special.h), found the same way. */
#define SPECIAL_ALIASES(X)									\
	X(int, timerfd_create, (int clock, int flags), (clock, flags))				\
	X(int, inotify_add_watch, (int fd, const char *path, unsigned int mask), (fd, path, mask))

/* Calls that change what the program, and we with it, may do (rules.c, limits.c), found the same way. */
#define RULES_ALIASES(X)									\
	X(int, prctl, (int op, long a, long b, long c, long d), (op, a, b, c, d))		\
	X(int, setrlimit, (int resource, const struct rlimit *l), (resource, l))		\
	X(int, setrlimit64, (int resource, const struct rlimit *l), (resource, l))		\
	X(int, getrlimit, (int resource, struct rlimit *l), (resource, l))			\
	X(int, getrlimit64, (int resource, struct rlimit *l), (resource, l))			\
	X(int, prlimit,										\
	  (pid_t pid, int resource, const struct rlimit *to, struct rlimit *from),		\
	  (pid, resource, to, from))								\
	X(int, prlimit64,									\
	  (pid_t pid, int resource, const struct rlimit *to, struct rlimit *from),		\
	  (pid, resource, to, from))								\
	X(int, mlockall, (int flags), (flags))

/* Clocks in virtual time (clocks.c), found the same way, and only in experiments that want them. */
#define CLOCK_WRAPPERS(X)									\
	X(int, clock_gettime, (clockid_t clock, struct timespec *ret), (clock, ret))		\
	X(int, timespec_get, (struct timespec *ret, int base), (ret, base))			\
	X(int, gettimeofday, (struct timeval *ret, void *zone), (ret, zone))			\
	X(time_t, time, (time_t *ret), (ret))							\
	X(int, timerfd_settime,									\
	  (int fd, int flags, const struct itimerspec *set, struct itimerspec *old),		\
	  (fd, flags, set, old))

/* OpenMP (omp.c).  f and data are a region's function and what it is given. */
#define OMP_REGION_PARAMS void (*f)(void *), void *data, unsigned int threads
#define OMP_LOOP(X, name)									\
	X(void, name,										\
	  (OMP_REGION_PARAMS, long start, long end, long step, long chunk, unsigned int flags),	\
	  (f, data, threads, start, end, step, chunk, flags))
#define OMP_RUNTIME_LOOP(X, name)								\
	X(void, name, (OMP_REGION_PARAMS, long start, long end, long step, unsigned int flags),	\
	  (f, data, threads, start, end, step, flags))

#define OMP_PARALLEL_ALIASES(X)									\
	X(void, GOMP_parallel, (OMP_REGION_PARAMS, unsigned int flags), (f, data, threads, flags)) \
	X(void, GOMP_parallel_sections, (OMP_REGION_PARAMS, unsigned int cnt, unsigned int flags), \
	  (f, data, threads, cnt, flags))							\
	OMP_LOOP(X, GOMP_parallel_loop_static) OMP_LOOP(X, GOMP_parallel_loop_dynamic)		\
	OMP_LOOP(X, GOMP_parallel_loop_guided) OMP_LOOP(X, GOMP_parallel_loop_nonmonotonic_dynamic) \
	OMP_LOOP(X, GOMP_parallel_loop_nonmonotonic_guided)					\
	OMP_RUNTIME_LOOP(X, GOMP_parallel_loop_runtime)						\
	OMP_RUNTIME_LOOP(X, GOMP_parallel_loop_nonmonotonic_runtime)				\
	OMP_RUNTIME_LOOP(X, GOMP_parallel_loop_maybe_nonmonotonic_runtime)

#define OMP_BARRIER_ALIASES(X)									\
	X(void, GOMP_barrier, (void), ())							\
	X(bool, GOMP_barrier_cancel, (void), ())						\
	X(void, GOMP_loop_end, (void), ())							\
	X(bool, GOMP_loop_end_cancel, (void), ())						\
	X(void, GOMP_sections_end, (void), ())							\
	X(bool, GOMP_sections_end_cancel, (void), ())						\
	X(void, __kmpc_barrier, (void *location, int tid), (location, tid))			\
	X(int, __kmpc_cancel_barrier, (void *location, int tid), (location, tid))

#define OMP_TASK_ALIASES(X)									\
	X(void, GOMP_task,									\
	  (void (*f)(void *), void *data, void (*copy)(void *, void *), long size, long alignment, \
	   bool deferred, unsigned int flags, void **depend, int priority, void *detach),	\
	  (f, data, copy, size, alignment, deferred, flags, depend, priority, detach))		\
	X(void, GOMP_taskloop,									\
	  (void (*f)(void *), void *data, void (*copy)(void *, void *), long size, long alignment, \
	   unsigned int flags, unsigned long cnt, int priority, long start, long end, long step), \
	  (f, data, copy, size, alignment, flags, cnt, priority, start, end, step))		\
	X(void, GOMP_taskloop_ull,								\
	  (void (*f)(void *), void *data, void (*copy)(void *, void *), long size, long alignment, \
	   unsigned int flags, unsigned long cnt, int priority, unsigned long long start,	\
	   unsigned long long end, unsigned long long step),					\
	  (f, data, copy, size, alignment, flags, cnt, priority, start, end, step))		\
	X(int, __kmpc_omp_task, (void *location, int tid, void *task), (location, tid, task))	\
	X(int, __kmpc_omp_task_with_deps,							\
	  (void *location, int tid, void *task, int cnt, void *deps, int other_cnt, void *others), \
	  (location, tid, task, cnt, deps, other_cnt, others))					\
	X(void, __kmpc_taskloop,								\
	  (void *location, int tid, void *task, int condition, void *low, void *high, long step, \
	   int no_group, int schedule, unsigned long long size, void *copy),			\
	  (location, tid, task, condition, low, high, step, no_group, schedule, size, copy))

#define OMP_LOCK_ALIASES(X)									\
	X(void, GOMP_critical_start, (void), ())						\
	X(void, GOMP_critical_end, (void), ())							\
	X(void, GOMP_critical_name_start, (void **name), (name))				\
	X(void, GOMP_critical_name_end, (void **name), (name))					\
	X(void, GOMP_ordered_start, (void), ())							\
	X(void, GOMP_ordered_end, (void), ())							\
	X(void, __kmpc_critical, (void *location, int tid, void *lock), (location, tid, lock))	\
	X(void, __kmpc_end_critical, (void *location, int tid, void *lock), (location, tid, lock)) \
	X(void, __kmpc_fork_call, (void *location, int cnt, void (*micro)(int *, int *, ...), ...), \
	  (location, cnt, micro))

#define OMP_ALIASES(X)										\
	OMP_PARALLEL_ALIASES(X) OMP_BARRIER_ALIASES(X) OMP_TASK_ALIASES(X) OMP_LOCK_ALIASES(X)

#define OTHER_ALIASES(X)									\
	X(int, lockf64, (int fd, int op, off64_t len), (fd, op, len))				\
	X(int, fcntl64, (int fd, int op, long arg), (fd, op, arg))				\
	X(void *, dlsym, (void *library, const char *name), (library, name))			\
	X(pid_t, _Fork, (void), ())

#define ALIAS_WRAPPERS(X)									\
	READ_ALIASES(X) READ_PARTS_ALIASES(X) WRITE_PARTS_ALIASES(X) RECEIVE_ALIASES(X)		\
	POLL_ALIASES(X) COPY_ALIASES(X) DISK_ALIASES(X) DISK_WRITE_ALIASES(X)			\
	MAPPING_ALIASES(X) CLOSING_ALIASES(X) SPECIAL_ALIASES(X) STACK_ALIASES(X) JUMP_ALIASES(X) RULES_ALIASES(X)	\
	OMP_ALIASES(X)	\
	OTHER_ALIASES(X)
#define ALL_WRAPPERS(X) RUNTIME_WRAPPERS(X) ALIAS_WRAPPERS(X) CLOCK_WRAPPERS(X)

#define X(type, name, params, args) \
	extern type vprof_w_##name params __attribute__((visibility(RUNTIME_VISIBILITY)));
#ifndef RUNTIME_VISIBILITY
#define RUNTIME_VISIBILITY "default"
#endif
RUNTIME_WRAPPERS(X)
#undef X

#endif
