#include "team/life_sign.h"

#include "platform/read_file.h"
#include "platform/task_stat.h"

#include <algorithm>
#include <cstddef>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plumb::team {

namespace {

// One of a kind on this machine since it was started; empty: /proc is not there.
std::string boot_id() {
    auto text = platform::read_file("/proc/sys/kernel/random/boot_id");
    if (!text)
        return {};
    text->resize(std::min(text->find('\n'), text->size()));
    return *text;
}

uint64_t own_pid_namespace() {
    struct stat info {};
    return stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

} // namespace

LifeSign LifeSign::of_this_process() {
    LifeSign sign;
    sign.pid = static_cast<uint64_t>(getpid());
    if (const auto process = platform::read_process_stat("/proc", static_cast<uint32_t>(sign.pid)))
        sign.start_ticks = process->start_ticks;
    sign.pid_namespace = own_pid_namespace();
    boot_id().copy(sign.boot, sizeof sign.boot - 1);
    return sign;
}

bool place_life_sign(const std::string& path, const LifeSign& sign) {
    const std::string draft = path + ".draft-" + std::to_string(getpid());
    const int fd = open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    const bool written = write(fd, &sign, sizeof sign) == static_cast<ssize_t>(sizeof sign);
    close(fd);
    const bool placed = written && link(draft.c_str(), path.c_str()) == 0; // never replaces
    unlink(draft.c_str());
    return placed;
}

void renew_life_sign(const std::string& path, uint64_t beat) {
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    [[maybe_unused]] const ssize_t written = pwrite(fd, &beat, sizeof beat, offsetof(LifeSign, beat));
    close(fd);
}

bool read_life_sign(const std::string& path, LifeSign& sign) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t got = read(fd, &sign, sizeof sign);
    close(fd);
    return got == static_cast<ssize_t>(sizeof sign) && sign.magic == LifeSign::kMagic;
}

bool LifeWatch::is_visible(const LifeSign& sign) {
    static const LifeSign own = LifeSign::of_this_process();
    return own.boot[0] != 0 && own.pid_namespace != 0 && std::ranges::equal(own.boot, sign.boot) &&
           own.pid_namespace == sign.pid_namespace;
}

bool LifeWatch::alive() {
    LifeSign sign;
    if (!read_life_sign(path_, sign) || sign.pid == 0)
        return false;
    if (is_visible(sign)) {
        const auto process = platform::read_process_stat("/proc", static_cast<uint32_t>(sign.pid));
        return process && process->start_ticks == sign.start_ticks && process->state != 'Z' && process->state != 'X';
    }
    const Clock::time_point now = Clock::now();
    if (sign.beat != beat_) {
        beat_ = sign.beat;
        changed_ = now;
    }
    return now - changed_ < patience_;
}

} // namespace plumb::team
