// What the kernel does about split locks (locked operations across two cache lines), from its settings alone.
#pragma once

#include <string>

namespace plumb::platform {

struct SplitLockSetting {
    bool detects = false; // the CPU reports them and the kernel listens
    bool fatal = false;   // and ends the program that makes one
    std::string text;     // in the kernel's own words where there are any; never empty
};

// `root`: "" for this machine, else a folder with a copy of its /proc. Linux documents split_lock_detect= and
// bus_lock in admin-guide/kernel-parameters and split_lock_mitigate in admin-guide/sysctl/kernel.
SplitLockSetting read_split_lock_setting(const std::string& root);

} // namespace plumb::platform
