// How the processes of a team know that another one still lives: a small file that it keeps and renews.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace plumb::team {

// As it stands in the file, which other hosts may read, too.
struct LifeSign {
    static constexpr uint64_t kMagic = 0x31'6d'61'65'74'6c'70; // "plteam1"
    uint64_t magic = kMagic;
    uint64_t pid = 0;             // 0: the place is taken by nobody
    uint64_t start_ticks = 0;     // with the pid the identity of a process
    uint64_t pid_namespace = 0;   // in which the pid means it
    char boot[40] = {};           // id of the kernel's boot: which machine
    uint64_t members = 0, work = 0; // of the team, and which files it reads (a hash)
    uint64_t beat = 0;            // counts up while it lives

    static LifeSign of_this_process();
};

// Writes the sign to `path`, which must not exist; the file appears whole. False: it exists, or cannot be written.
bool place_life_sign(const std::string& path, const LifeSign& sign);

// Writes the beat only; the file must exist.
void renew_life_sign(const std::string& path, uint64_t beat);

// False: there is no such file, or it is none of these.
bool read_life_sign(const std::string& path, LifeSign& sign);

// Watches a sign of which the file exists. Where the process can be seen, the kernel is asked for it; elsewhere (another
// host, another container) it is gone when its beat has not changed for `patience`.
class LifeWatch {
  public:
    using Clock = std::chrono::steady_clock;
    explicit LifeWatch(std::string path, Clock::duration patience = std::chrono::seconds(60))
        : path_(std::move(path)), patience_(patience) {}

    // False: the file or its process is gone, or the place is taken by nobody.
    bool alive();

    // Whether its process can be looked up from here.
    static bool is_visible(const LifeSign& sign);

  private:
    std::string path_;
    Clock::duration patience_;
    uint64_t beat_ = 0;
    Clock::time_point changed_ = Clock::now();
};

} // namespace plumb::team
