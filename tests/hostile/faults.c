/* Faults of the disk, for LD_PRELOAD: calls on the files of a log are delayed or fail.
 * IMPACT_TEST_FAULT is "CALL delay MILLISECONDS" or "CALL error ERRNO"; CALL is write, sync or open.
 * IMPACT_TEST_FAULT_FROM names a file without which there is no fault yet. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int is_log(const char *path) { return strstr(path, "impacttracker") != NULL; }

static int is_log_file(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_log(path);
}

/* Plays the fault of this call; gives the error it fails with. */
static int fault(const char *call) {
    char wanted[16], kind[16];
    int number;
    const char *text = getenv("IMPACT_TEST_FAULT");
    if (!text || sscanf(text, "%15s %15s %d", wanted, kind, &number) != 3) return 0;
    if (strcmp(wanted, call) != 0) return 0;
    const char *from = getenv("IMPACT_TEST_FAULT_FROM");
    if (from && access(from, F_OK) != 0) return 0;
    if (strcmp(kind, "error") == 0) return number;
    struct timespec time = {number / 1000, (number % 1000) * 1000000L};
    nanosleep(&time, NULL);
    return 0;
}

#define PLAY(condition, call)                     \
    if (condition) {                              \
        int error = fault(call);                  \
        if (error) { errno = error; return -1; }  \
    }

ssize_t write(int fd, const void *bytes, size_t length) {
    ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    PLAY(is_log_file(fd), "write")
    return real(fd, bytes, length);
}

int fsync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
    PLAY(is_log_file(fd), "sync")
    return real(fd);
}

int fdatasync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
    PLAY(is_log_file(fd), "sync")
    return real(fd);
}

int open64(const char *path, int flags, ...) {
    int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open64");
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    PLAY(is_log(path), "open")
    return real(path, flags, mode);
}
