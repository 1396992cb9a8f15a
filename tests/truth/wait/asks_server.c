// A client asks a server on the same machine by TCP. Planted: the next record is prepared only when the answer to the one before
// has come, so that one of the two processes always waits. Cured: one request more is under way.
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kRecords = 500, kSteps = 130000 };
#ifdef CURED
enum { kUnderWay = 2 };
#else
enum { kUnderWay = 1 };
#endif

__attribute__((noinline)) static double score_of(double record) {
    double value = record;
    for (int step = 0; step < kSteps; step++)
        value = value * 0.999 + sqrt(value + step); // planted: pipe-wait
    return value;
}

__attribute__((noinline)) static double prepare(int record) {
    double value = record;
    for (int step = 0; step < kSteps; step++)
        value = value * 0.998 + sqrt(value + step); // planted: pipe-wait
    return value;
}

static void at_once(int connection) {
    const int yes = 1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

static void serve(int listener) {
    const int connection = accept(listener, NULL, NULL);
    at_once(connection);
    double record;
    while (recv(connection, &record, sizeof record, MSG_WAITALL) == sizeof record) {
        const double score = score_of(record);
        if (send(connection, &score, sizeof score, 0) != sizeof score)
            _exit(1);
    }
    _exit(0);
}

static double answer_from(int server) {
    double score;
    if (recv(server, &score, sizeof score, MSG_WAITALL) != sizeof score)
        exit(1);
    return score;
}

int main(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0), server = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr*)&address, size) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr*)&address, &size) != 0)
        return 1;
    if (fork() == 0) {
        close(server);
        serve(listener);
    }
    close(listener);
    if (connect(server, (struct sockaddr*)&address, size) != 0)
        return 1;
    at_once(server);
    double sum = 0;
    int under_way = 0;
    for (int record = 0; record < kRecords; record++) {
        const double prepared = prepare(record);
        if (under_way == kUnderWay) {
            sum += answer_from(server);
            under_way--;
        }
        if (send(server, &prepared, sizeof prepared, 0) != sizeof prepared)
            return 1;
        under_way++;
        if (kUnderWay == 1) {
            sum += answer_from(server);
            under_way--;
        }
    }
    for (; under_way > 0; under_way--)
        sum += answer_from(server);
    close(server);
    wait(NULL);
    printf("%.3f\n", sum);
    return 0;
}
