/* Fills bytes with randomness; 0 if it did. */
typedef int (*voile_source)(void *state, void *bytes, size_t count);

#if defined(__linux__) || defined(__APPLE__) || defined(__unix__)
#include <unistd.h>
#if defined(__linux__)
#include <sys/random.h>
#elif defined(__APPLE__)
#include <sys/random.h>
#endif
/* The operating system's generator. */
static int voile_random(void *state, void *bytes, size_t count) {
    (void)state;
    return getentropy(bytes, count);
}
#endif
