#include "record/run/held_file.h"

#include "platform/read_file.h"
#include "platform/task_stat.h"

#include <plumb/machine.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

namespace plumb::record {

namespace {

struct Identity {
    uint64_t machine = 0, pid_namespace = 0, start_ticks = 0;
    uint32_t pid = 0;
};

Identity own_identity() {
    Identity own;
    if (const auto boot_id = platform::read_file("/proc/sys/kernel/random/boot_id"))
        own.machine = trace::machine_of(boot_id->data(), boot_id->size());
    own.pid_namespace = platform::read_pid_namespace("/proc", "self");
    own.pid = static_cast<uint32_t>(getpid());
    if (const auto stat = platform::read_process_stat("/proc", own.pid))
        own.start_ticks = stat->start_ticks;
    return own;
}

// A few hundred bytes at most; "" where there is no such file.
std::string read_whole(int directory, const char* name) {
    const int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return "";
    char text[256];
    const ssize_t got = read(fd, text, sizeof text);
    close(fd);
    return std::string(text, got > 0 ? static_cast<size_t>(got) : 0);
}

int create(int directory, const char* name, const std::string& text) {
    const int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno == EEXIST ? EWOULDBLOCK : errno;
    // Without its maker's name, on a full disk, the file is a lock all the same.
    [[maybe_unused]] const ssize_t written = write(fd, text.data(), text.size());
    close(fd);
    return 0;
}

} // namespace

std::string process_identity() {
    const Identity own = own_identity();
    char text[128];
    std::snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu64 "\n", own.machine, own.pid_namespace,
                  own.pid, own.start_ticks);
    return text;
}

bool has_surely_ended(const std::string& identity, const std::string& proc_root) {
    Identity maker;
    if (std::sscanf(identity.c_str(), "%" SCNu64 " %" SCNu64 " %" SCNu32 " %" SCNu64, &maker.machine, &maker.pid_namespace,
                    &maker.pid, &maker.start_ticks) != 4)
        return false;
    const Identity own = own_identity();
    if (own.machine == 0 || own.pid_namespace == 0 || own.start_ticks == 0 || maker.start_ticks == 0 ||
        maker.machine != own.machine || maker.pid_namespace != own.pid_namespace)
        return false;
    const auto stat = platform::read_process_stat(proc_root, maker.pid);
    return !stat || stat->start_ticks != maker.start_ticks || stat->state == 'Z' || stat->state == 'X';
}

int take_held_file(int directory, const char* name) {
    const std::string own = process_identity();
    const int error = create(directory, name, own);
    if (error != EWOULDBLOCK)
        return error;
    const std::string maker = read_whole(directory, name);
    if (!has_surely_ended(maker))
        return EWOULDBLOCK;
    // Others may see the same: whoever moves it away must have moved that file, and not a new one of somebody who did so
    // before.
    uint64_t bits = 0;
    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits)
        bits = static_cast<uint64_t>(getpid());
    char grave[64];
    std::snprintf(grave, sizeof grave, ".draft-%016" PRIx64, bits);
    if (renameat(directory, name, directory, grave) != 0)
        return EWOULDBLOCK;
    const bool was_that = read_whole(directory, grave) == maker;
    if (!was_that)
        linkat(directory, grave, directory, name, 0);
    unlinkat(directory, grave, 0);
    return was_that ? create(directory, name, own) : EWOULDBLOCK;
}

void release_held_file(int directory, const char* name) { unlinkat(directory, name, 0); }

} // namespace plumb::record
