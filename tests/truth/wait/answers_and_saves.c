// Computes, saves each result by POSIX asynchronous I/O while it goes on with the next, and answers in a thread that accepts
// connections, whoever asks for the latest one; one asks now and then. The threads that accept and write wait nearly all the
// time, and nobody for them.
#include <aio.h>
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { kResults = 300, kValues = 4096, kSteps = 500000, kAskEach = 20 };

static _Atomic double g_latest;
static struct sockaddr_in g_address = {.sin_family = AF_INET};

static void* answer(void* argument) {
    const int listening = *(int*)argument;
    for (;;) {
        const int asking = accept(listening, NULL, NULL);
        if (asking < 0)
            return NULL;
        const double latest = g_latest;
        if (write(asking, &latest, sizeof latest) != sizeof latest)
            exit(1);
        close(asking);
    }
}

static double ask(void) {
    double latest = 0;
    const int asking = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(asking, (struct sockaddr*)&g_address, sizeof g_address) != 0 ||
        read(asking, &latest, sizeof latest) != sizeof latest)
        exit(1);
    close(asking);
    return latest;
}

static double compute(int result) {
    double value = result;
    for (int step = 0; step < kSteps; step++)
        value = value * 0.999 + sqrt(value + step);
    return value;
}

int main(void) {
    g_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listening = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t length = sizeof g_address;
    char path[] = "/tmp/results.XXXXXX";
    const int file = mkstemp(path);
    pthread_t answering;
    if (file < 0 || bind(listening, (struct sockaddr*)&g_address, length) != 0 || listen(listening, 8) != 0 ||
        getsockname(listening, (struct sockaddr*)&g_address, &length) != 0 || pthread_create(&answering, NULL, answer, &listening) != 0)
        return 1;
    static double values[2][kValues];
    struct aiocb saved = {.aio_fildes = file, .aio_nbytes = sizeof values[0]};
    double all = 0;
    for (int result = 0; result < kResults; result++) {
        double* const current = values[result & 1];
        const double value = compute(result);
        for (int at = 0; at < kValues; at++)
            current[at] = value + at;
        g_latest = value;
        const struct aiocb* const before[] = {&saved};
        while (result > 0 && aio_error(&saved) == EINPROGRESS)
            aio_suspend(before, 1, NULL);
        if (result > 0 && aio_return(&saved) != sizeof values[0])
            return 1;
        saved.aio_buf = current;
        saved.aio_offset = (off_t)result * (off_t)sizeof values[0];
        if (aio_write(&saved) != 0)
            return 1;
        if (result % kAskEach == 0)
            all += ask();
    }
    const struct aiocb* const last[] = {&saved};
    while (aio_error(&saved) == EINPROGRESS)
        aio_suspend(last, 1, NULL);
    unlink(path);
    printf("%.3f\n", all);
    return 0;
}
