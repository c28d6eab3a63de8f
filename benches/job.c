/* A job that takes next to no time to load: it sleeps, and says when it began and ended. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int count, char **words) {
    long long began = now();
    double seconds = count > 1 ? atof(words[1]) : 0;
    struct timespec pause = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
    nanosleep(&pause, NULL);
    printf("%lld %lld\n", began, now());
    return 0;
}
