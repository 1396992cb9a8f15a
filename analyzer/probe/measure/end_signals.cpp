#include "probe/measure/end_signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace plumb::probe {

int EndSignals::wait(uint64_t longest_ns) {
    if (signal_)
        return signal_;
    pollfd polled{blocked_->fd(), POLLIN, 0};
    const timespec timeout{static_cast<time_t>(longest_ns / 1'000'000'000), static_cast<long>(longest_ns % 1'000'000'000)};
    signalfd_siginfo info;
    if (ppoll(&polled, 1, &timeout, nullptr) > 0 && read(blocked_->fd(), &info, sizeof info) == sizeof info) {
        signal_ = static_cast<int>(info.ssi_signo);
        blocked_.reset();
    }
    return signal_;
}

} // namespace plumb::probe
