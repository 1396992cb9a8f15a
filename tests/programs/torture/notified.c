// Threads that the C library makes by itself, with all signals blocked at first: notifications of timers, message
// queues, asynchronous files and names. And the clock, read many times without a system call.
#define _GNU_SOURCE
#include "unaligned.h"
#include <aio.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static sem_t notified;
static void notify(union sigval value) {
    touch(200);
    *(int*)value.sival_ptr += 1;
    sem_post(&notified);
}

static struct sigevent by_thread(int* counter) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify};
    event.sigev_value.sival_ptr = counter;
    return event;
}

static int files(void) {
    int calls = 0;
    FILE* file = tmpfile();
    char text[17] = "sixteen letters", back[17] = "";
    for (int i = 0; i < 20; ++i) {
        struct aiocb request = {.aio_fildes = fileno(file), .aio_buf = i % 2 ? back : text, .aio_nbytes = 15};
        request.aio_sigevent = by_thread(&calls);
        touch(30);
        if ((i % 2 ? aio_read(&request) : aio_write(&request)) != 0)
            return -1;
        sem_wait(&notified);
        if (aio_return(&request) != 15)
            return -2;
    }
    fclose(file);
    return strcmp(text, back) == 0 ? calls : -3;
}

static int queue(void) {
    char name[64];
    int calls = 0;
    snprintf(name, sizeof name, "/plumb-notified-%d", (int)getpid());
    struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 16};
    const mqd_t messages = mq_open(name, O_CREAT | O_RDWR | O_NONBLOCK, 0600, &attributes);
    if (messages == (mqd_t)-1)
        return 0;
    mq_unlink(name);
    for (int i = 0; i < 10; ++i) {
        char message[16] = "";
        const struct sigevent event = by_thread(&calls);
        touch(30);
        mq_notify(messages, &event);
        mq_send(messages, message, sizeof message, 0);
        sem_wait(&notified);
        mq_receive(messages, message, sizeof message, NULL);
    }
    mq_close(messages);
    return calls;
}

static int names(void) {
    int calls = 0;
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST};
    struct gaicb request = {.ar_name = "127.0.0.1", .ar_request = &hints};
    struct gaicb* list[] = {&request};
    struct sigevent event = by_thread(&calls);
    touch(30);
    if (getaddrinfo_a(GAI_NOWAIT, list, 1, &event) == 0)
        sem_wait(&notified);
    const int found = gai_error(&request) == 0;
    if (found)
        freeaddrinfo(request.ar_result);
    return calls + found;
}

static int timer(void) {
    int calls = 0;
    timer_t id;
    struct sigevent event = by_thread(&calls);
    const struct itimerspec once = {.it_value.tv_nsec = 1000000};
    touch(30);
    timer_create(CLOCK_MONOTONIC, &event, &id);
    timer_settime(id, 0, &once, NULL);
    sem_wait(&notified);
    timer_delete(id);
    return calls;
}

static int clocks(void) {
    struct {
        char odd;
        struct timespec now;
    } __attribute__((packed)) record = {0};
    int backwards = 0;
    struct timespec before = {0};
    for (int i = 0; i < 20000; ++i) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        backwards += now.tv_sec < before.tv_sec || (now.tv_sec == before.tv_sec && now.tv_nsec < before.tv_nsec);
        before = now;
        if (i % 20 == 0) // written by the kernel's code in this process, at an odd address
            clock_gettime(CLOCK_REALTIME, (struct timespec*)((char*)&record + 1));
        touch(1);
    }
    return backwards;
}

int main(void) {
    sem_init(&notified, 0, 0);
    printf("files %d\n", files());
    printf("queue %d\n", queue());
    printf("names %d\n", names());
    printf("timer %d\n", timer());
    printf("clock backwards %d\n", clocks());
    return 0;
}
