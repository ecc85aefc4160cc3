/* Memory that runs out when a test says so. Preloaded, for programs that take it from the C library's malloc.
 *
 * SCARCE_MEMORY_FILE names a file with two numbers, a size and a count. While it is there, whoever asks for as many bytes or more
 * gets them so many times, and then no more. The file whose name has .refused behind it grows by a byte for each refusal.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);

enum { refused_min = 128 }; /* less is never refused, and costs no look at the file */
static atomic_long given;   /* since the file is there */

static int is_scarce(const char* name, size_t size) {
    int file = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
    char text[64] = {0};
    long length = file < 0 ? 0 : syscall(SYS_read, file, text, sizeof text - 1);
    if (file >= 0) syscall(SYS_close, file);
    size_t least;
    long first;
    if (length <= 0 || sscanf(text, "%zu %ld", &least, &first) != 2) {
        given = 0;
        return 0;
    }
    return size >= least && given++ >= first;
}

static void count_refusal(const char* name) {
    char counted[PATH_MAX];
    snprintf(counted, sizeof counted, "%s.refused", name);
    int file = (int)syscall(SYS_openat, AT_FDCWD, counted, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) return;
    syscall(SYS_write, file, "x", 1);
    syscall(SYS_close, file);
}

static int is_refused(size_t size) {
    const char* name = size < refused_min ? NULL : getenv("SCARCE_MEMORY_FILE");
    if (!name) return 0;
    int kept = errno, refused = is_scarce(name, size);
    if (refused) count_refusal(name);
    errno = refused ? ENOMEM : kept;
    return refused;
}

void* malloc(size_t size) {
    return is_refused(size) ? NULL : __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
    return is_refused(count * size) ? NULL : __libc_calloc(count, size);
}

void* realloc(void* old, size_t size) {
    return is_refused(size) ? NULL : __libc_realloc(old, size);
}
