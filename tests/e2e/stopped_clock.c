/* A wall clock that stands still at the time in a file, or runs from it, or is ahead of the machine's. (libfaketime 0.9.10 does
 * not do: with it servers that are linked to jemalloc do not start, and a timer of a gate that is due as it is set, once in a
 * thousand settings, never ends: its timerfd_settime takes all absolute times for the wall clock's.)
 *
 * Preloaded. STOPPED_CLOCK_FILE names the file, with the time as faked_clock.py writes it: 2026-12-31 23:59:50, UTC. It is read
 * at each call, and nothing here allocates memory. A number behind the time lets the clock run: it is the monotonic clock, in
 * nanoseconds, when that time was right. CLOCK_AHEAD: by so many seconds it is ahead, where there is no such file. All other
 * clocks go on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Days since 1970-01-01. Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil. */
static long days_since_epoch(long year, long month, long day) {
    year -= month <= 2;
    long era = year / 400, of_era = year - era * 400;
    long of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* Sets it to what the file says. Returns 0 if there is no such file. */
static int told_by_file(struct timespec* now) {
    int kept = errno;
    const char* name = getenv("STOPPED_CLOCK_FILE");
    int file = name ? (int)syscall(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC) : -1;
    char text[64] = {0};
    long length = file < 0 ? 0 : syscall(SYS_read, file, text, sizeof text - 1);
    if (file >= 0) syscall(SYS_close, file);
    errno = kept;
    long year, month, day, hour, minute, second, since;
    int found = sscanf(text, "%ld-%ld-%ld %ld:%ld:%ld %ld", &year, &month, &day, &hour, &minute, &second, &since);
    if (length < 19 || found < 6) return 0;
    long gone = 0; /* nanoseconds */
    if (found == 7) {
        struct timespec monotonic;
        syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &monotonic);
        gone = monotonic.tv_sec * 1000000000L + monotonic.tv_nsec - since;
    }
    now->tv_sec = days_since_epoch(year, month, day) * 86400 + hour * 3600 + minute * 60 + second + gone / 1000000000L;
    now->tv_nsec = gone % 1000000000L;
    return 1;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
    int is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    if (is_wall && told_by_file(now)) return 0;
    int failed = (int)syscall(SYS_clock_gettime, clock, now);
    const char* ahead = is_wall ? getenv("CLOCK_AHEAD") : NULL;
    if (!failed && ahead) now->tv_sec += atol(ahead);
    return failed;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
    struct timespec precise;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return 0;
}

time_t time(time_t* result) {
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    if (result) *result = precise.tv_sec;
    return precise.tv_sec;
}
