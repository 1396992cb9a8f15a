#include "probe/measure/end_signals.h"

#include <initializer_list>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace plumb::probe {

EndSignals::EndSignals() {
    sigemptyset(&mask_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
        sigaddset(&mask_, number);
    pthread_sigmask(SIG_BLOCK, &mask_, &before_);
    fd_ = signalfd(-1, &mask_, SFD_CLOEXEC | SFD_NONBLOCK);
}

EndSignals::~EndSignals() {
    give_back();
    if (fd_ >= 0)
        close(fd_);
}

void EndSignals::give_back() {
    if (is_blocked_)
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    is_blocked_ = false;
}

int EndSignals::wait(uint64_t longest_ns) {
    if (signal_)
        return signal_;
    pollfd polled{fd_, POLLIN, 0};
    const timespec timeout{static_cast<time_t>(longest_ns / 1'000'000'000), static_cast<long>(longest_ns % 1'000'000'000)};
    signalfd_siginfo info;
    if (ppoll(&polled, 1, &timeout, nullptr) > 0 && read(fd_, &info, sizeof info) == sizeof info) {
        signal_ = static_cast<int>(info.ssi_signo);
        give_back();
    }
    return signal_;
}

} // namespace plumb::probe
