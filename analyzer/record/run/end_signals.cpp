#include "record/run/end_signals.h"

#include <initializer_list>
#include <sys/signalfd.h>
#include <unistd.h>

namespace plumb::record {

EndSignals::EndSignals() {
    sigemptyset(&mask_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
        sigaddset(&mask_, number);
    pthread_sigmask(SIG_BLOCK, &mask_, &before_);
    fd_ = signalfd(-1, &mask_, SFD_CLOEXEC | SFD_NONBLOCK);
}

EndSignals::~EndSignals() {
    signalfd_siginfo info;
    while (fd_ >= 0 && read(fd_, &info, sizeof info) > 0) {
    }
    if (fd_ >= 0)
        close(fd_);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

} // namespace plumb::record
