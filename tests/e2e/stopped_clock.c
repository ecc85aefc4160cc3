/* A wall clock that stands still at the time in a file, or is ahead of the machine's. (libfaketime 0.9.10 does not do: with it
 * servers that are linked to jemalloc do not start, and a timer of a gate that is due as it is set, once in a thousand
 * settings, never ends: its timerfd_settime takes all absolute times for the wall clock's.)
 *
 * Preloaded. STOPPED_CLOCK_FILE names the file, with the time as faked_clock.py writes it: 2026-12-31 23:59:50, UTC. It is read
 * at each call, and nothing here allocates memory. CLOCK_AHEAD: by so many seconds it is ahead, where there is no such file. All
 * other clocks go on.
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

/* Returns the seconds since the epoch, or -1 if there is no such file. */
static time_t stopped_at(void) {
    int kept = errno;
    const char* name = getenv("STOPPED_CLOCK_FILE");
    int file = name ? (int)syscall(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC) : -1;
    char text[32] = {0};
    long length = file < 0 ? 0 : syscall(SYS_read, file, text, sizeof text - 1);
    if (file >= 0) syscall(SYS_close, file);
    errno = kept;
    long year, month, day, hour, minute, second;
    if (length < 19 || sscanf(text, "%ld-%ld-%ld %ld:%ld:%ld", &year, &month, &day, &hour, &minute, &second) != 6) return -1;
    return days_since_epoch(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
    int is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    time_t stopped = is_wall ? stopped_at() : -1;
    if (stopped < 0) {
        int failed = (int)syscall(SYS_clock_gettime, clock, now);
        const char* ahead = is_wall ? getenv("CLOCK_AHEAD") : NULL;
        if (!failed && ahead) now->tv_sec += atol(ahead);
        return failed;
    }
    now->tv_sec = stopped;
    now->tv_nsec = 0;
    return 0;
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
