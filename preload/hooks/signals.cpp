// Keeps the sampling timer's signal (record/timer_sampling.h) and the program's signals apart. When no timer runs,
// which is the rule, everything here passes through at the cost of one load.
#include "hooks/real_functions.h"
#include "record/timer_sampling.h"

#include <string.h>

using namespace plumb::shim;

namespace {

// The mask that the program wants, but for the timer's signal: programs that block all signals in their workers
// would never be sampled, and find the signal pending.
class WithoutSamplingSignal {
  public:
    WithoutSamplingSignal(int how, const sigset_t* set) : set_(set) {
        const int number = sampling_signal();
        if (number == 0 || !set || how == SIG_UNBLOCK || sigismember(set, number) != 1)
            return;
        copy_ = *set;
        sigdelset(&copy_, number);
        set_ = &copy_;
    }
    const sigset_t* get() const { return set_; }

  private:
    sigset_t copy_;
    const sigset_t* set_;
};

bool is_sampling_signal(int number) { return number != 0 && number == sampling_signal(); }

} // namespace

extern "C" {

int hook_sigaction(int number, const struct sigaction* action, struct sigaction* former) {
    if (is_sampling_signal(number)) {
        if (!action) { // it only asks: as far as it knows, nobody has touched the signal
            if (former)
                memset(former, 0, sizeof *former);
            return 0;
        }
        yield_sampling_signal();
    }
    return real_functions()->sigaction(number, action, former);
}

sighandler_t hook_signal(int number, sighandler_t handler) {
    if (is_sampling_signal(number))
        yield_sampling_signal();
    return real_functions()->signal(number, handler);
}

int hook_sigprocmask(int how, const sigset_t* set, sigset_t* former) {
    const WithoutSamplingSignal wanted(how, set);
    return real_functions()->sigprocmask(how, wanted.get(), former);
}

int hook_pthread_sigmask(int how, const sigset_t* set, sigset_t* former) {
    const WithoutSamplingSignal wanted(how, set);
    return real_functions()->pthread_sigmask(how, wanted.get(), former);
}
}
