#include "record/watch/threads/blocking_calls.h"

#include <algorithm>
#include <array>
#include <sys/syscall.h>

namespace plumb::record {

namespace {

// Calls whose first argument is a descriptor, and which can block for long.
constexpr std::array kDescriptorCalls = {
    SYS_read,    SYS_write,   SYS_pread64,   SYS_pwrite64,  SYS_readv,       SYS_writev,         SYS_preadv,
    SYS_pwritev, SYS_preadv2, SYS_pwritev2,  SYS_fsync,     SYS_fdatasync,   SYS_sync_file_range, SYS_ftruncate,
    SYS_fallocate, SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_sendto,      SYS_sendmsg,        SYS_sendmmsg,
    SYS_accept,  SYS_accept4, SYS_connect,   SYS_flock,     SYS_fcntl,       SYS_ioctl,          SYS_getdents64,
    SYS_sendfile, SYS_syncfs,  SYS_io_uring_enter};

} // namespace

bool names_descriptor(int number) {
    return std::find(kDescriptorCalls.begin(), kDescriptorCalls.end(), number) != kDescriptorCalls.end();
}

bool has_length(int number) {
    constexpr std::array calls = {SYS_read, SYS_write, SYS_pread64, SYS_pwrite64};
    return std::find(calls.begin(), calls.end(), number) != calls.end();
}

bool writes(int number) {
    constexpr std::array calls = {SYS_write,  SYS_writev, SYS_pwrite64, SYS_pwritev, SYS_pwritev2,
                                  SYS_sendto, SYS_sendmsg, SYS_sendmmsg, SYS_sendfile};
    return std::find(calls.begin(), calls.end(), number) != calls.end();
}

bool may_be_brought(int number) {
    constexpr std::array calls = {
        SYS_read,      SYS_readv,       SYS_write,      SYS_writev,  SYS_recvfrom, SYS_recvmsg,     SYS_recvmmsg,
        SYS_sendto,    SYS_sendmsg,     SYS_sendmmsg,   SYS_accept,  SYS_accept4,  SYS_connect,     SYS_ppoll,
        SYS_pselect6,  SYS_epoll_pwait, SYS_rt_sigsuspend, SYS_rt_sigtimedwait,    SYS_semop,       SYS_semtimedop,
        SYS_msgrcv,    SYS_msgsnd,      SYS_mq_timedreceive, SYS_mq_timedsend,     SYS_flock,       SYS_fcntl,
#ifdef SYS_poll
        SYS_poll,      SYS_select,      SYS_epoll_wait, SYS_pause,
#endif
    };
    return std::find(calls.begin(), calls.end(), number) != calls.end();
}

} // namespace plumb::record
