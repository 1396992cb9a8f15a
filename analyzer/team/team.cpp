#include "team/team.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plumb::team {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* kFolderPrefix = ".team-";
constexpr auto kLookAgain = 2ms;
constexpr int kLooksBetweenSignsOfLife = 50;
constexpr auto kJoinWithin = 5s;
constexpr auto kFarewell = 1s;
constexpr auto kForgottenAfter = 1h; // a folder whose leader cannot be seen from here
constexpr long kBeat_ns = 500'000'000;

// Asked to end, but not yet: see Team::beat.
std::atomic<bool> stopping;

int wake_signal() { return SIGRTMIN; }

// What ends a leader from outside, unless it is ignored. The folder must not stay.
sigset_t ending_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction action {};
        if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL)
            sigaddset(&signals, signal);
    }
    return signals;
}

void remove_folder(const std::string& folder) {
    std::error_code ignored;
    for (int attempt = 0; attempt < 3 && fs::exists(folder, ignored); ++attempt) // a helper may just be writing
        fs::remove_all(folder, ignored);
}

// Folders in the run of teams that were killed.
void remove_leftovers(const std::string& directory) {
    std::error_code failure;
    std::vector<fs::path> folders;
    for (fs::directory_iterator entry(directory, failure), end; !failure && entry != end; entry.increment(failure))
        if (entry->path().filename().string().starts_with(kFolderPrefix))
            folders.push_back(entry->path());
    for (const fs::path& folder : folders) {
        const std::string sign_path = folder / "member-0";
        LifeSign sign;
        const bool seen = read_life_sign(sign_path, sign) && LifeWatch::is_visible(sign);
        const auto written = fs::last_write_time(seen ? fs::path(sign_path) : folder, failure);
        if (seen ? !LifeWatch(sign_path).alive() : !failure && fs::file_time_type::clock::now() - written > kForgottenAfter)
            remove_folder(folder);
    }
}

bool write_whole(const std::string& path, const std::string& bytes) {
    std::FILE* file = std::fopen(path.c_str(), "we");
    if (!file)
        return false;
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    return std::fclose(file) == 0 && written;
}

std::optional<std::string> read_whole(const std::string& path) {
    std::FILE* file = std::fopen(path.c_str(), "re");
    if (!file)
        return {};
    std::string bytes;
    struct stat info {};
    if (fstat(fileno(file), &info) == 0)
        bytes.resize(static_cast<size_t>(info.st_size));
    const bool complete = std::fread(bytes.data(), 1, bytes.size(), file) == bytes.size();
    std::fclose(file);
    return complete ? std::optional(std::move(bytes)) : std::nullopt;
}

// Where a member that came too late says that it has heard so.
std::string heard_path(const std::string& folder, size_t member) { return folder + "/heard-" + std::to_string(member); }

std::string folder_of(const Place& place) { return place.directory + "/" + kFolderPrefix + place.job; }

} // namespace

Team::Team(const Place& place, std::string folder)
    : place_(place), folder_(std::move(folder)), lost_(place.members) {
    for (size_t member = 0; member < place.members; ++member)
        watches_.emplace_back(sign_path(member));
}

std::string Team::sign_path(size_t member) const { return folder_ + "/member-" + std::to_string(member); }

std::string Team::part_path(size_t member) const {
    return folder_ + "/part-" + std::to_string(round_) + "-" + std::to_string(member);
}

std::unique_ptr<Team> Team::lead(const Place& place) {
    if (place.members < 2 || access(place.directory.c_str(), W_OK) != 0)
        return nullptr;
    remove_leftovers(place.directory);
    if (mkdir(folder_of(place).c_str(), 0700) != 0)
        return nullptr; // the job has another report of the same run at work
    std::unique_ptr<Team> team(new Team(place, folder_of(place)));
    team->start_beating();
    return team->alone_ ? nullptr : std::move(team);
}

std::unique_ptr<Team> Team::join(const Place& place) {
    if (access(place.directory.c_str(), W_OK) != 0)
        return nullptr; // the leader works alone
    std::unique_ptr<Team> team(new Team(place, folder_of(place)));
    for (const auto begin = LifeWatch::Clock::now(); LifeWatch::Clock::now() - begin < kJoinWithin;
         std::this_thread::sleep_for(kLookAgain)) {
        LifeSign leader;
        if (!read_life_sign(team->sign_path(0), leader) || !team->watches_[0].alive())
            continue; // not yet there, or that of a killed job
        if (leader.members != place.members || leader.work != place.work)
            return nullptr;
        team->start_beating();
        if (!team->alone_)
            return team;
        place_life_sign(heard_path(team->folder_, place.own), LifeSign()); // that it comes too late
        return nullptr;
    }
    return nullptr;
}

// Shows that this process lives. alone_: its place in the team could not be had.
void Team::start_beating() {
    LifeSign sign = LifeSign::of_this_process();
    sign.members = place_.members;
    sign.work = place_.work;
    sigset_t signals;
    sigemptyset(&signals);
    if (leads())
        signals = ending_signals();
    sigaddset(&signals, wake_signal());
    pthread_sigmask(SIG_BLOCK, &signals, &mask_before_); // here and in every thread that begins from now on
    stopping = false;
    beating_ = std::thread([this, signals] { beat(signals); });
    alone_ = !place_life_sign(sign_path(place_.own), sign);
}

// Renews the sign. In the leader the ending signals come here only: the folder goes, then the process as it would have.
void Team::beat(const sigset_t& signals) {
    for (uint64_t beat = 1; !stopping; ++beat) {
        const timespec pause = {0, kBeat_ns};
        const int signal = sigtimedwait(&signals, nullptr, &pause);
        if (signal > 0 && signal != wake_signal()) {
            remove_folder(folder_);
            sigset_t own;
            sigemptyset(&own);
            sigaddset(&own, signal);
            pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
            pthread_kill(pthread_self(), signal);
        }
        if (!stopping)
            renew_life_sign(sign_path(place_.own), beat);
    }
}

Team::~Team() {
    if (beating_.joinable()) {
        stopping = true;
        pthread_kill(beating_.native_handle(), wake_signal());
        beating_.join();
        if (leads()) {
            tell_latecomers();
            remove_folder(folder_);
        }
        pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr); // a signal that came in between ends the process now
    }
}

// Whoever has not come by now may still be starting, and would look for a leader in vain.
void Team::tell_latecomers() const {
    const auto begin = LifeWatch::Clock::now();
    for (size_t member = 1; member < place_.members && !alone_; ++member) {
        is_decided(member);
        LifeSign sign;
        if (read_life_sign(sign_path(member), sign) && sign.pid == 0)
            while (access(heard_path(folder_, member).c_str(), F_OK) != 0 && LifeWatch::Clock::now() - begin < kFarewell)
                std::this_thread::sleep_for(kLookAgain);
    }
}

void Team::dissolve() {
    alone_ = true;
    remove_folder(folder_);
}

void Team::give(const std::string& part) {
    round_++;
    if (alone_)
        return;
    const std::string path = part_path(place_.own), draft = path + ".draft";
    if (write_whole(draft, part) && rename(draft.c_str(), path.c_str()) == 0)
        return;
    if (!leads())
        throw TeamOver();
    dissolve(); // the helpers see it
}

// Whether somebody has the place of this member, or nobody ever will: the leader waits for no one who has not come by now.
bool Team::is_decided(size_t member) const {
    if (leads())
        place_life_sign(sign_path(member), LifeSign()); // of nobody; does nothing when somebody has come
    return leads() || access(sign_path(member).c_str(), F_OK) == 0;
}

std::optional<std::string> Team::take(size_t member) {
    for (int look = 0; !alone_ && !lost_[member]; ++look) {
        if (auto part = read_whole(part_path(member)))
            return part;
        if (look % kLooksBetweenSignsOfLife == 0) {
            if (!leads() && !watches_[0].alive()) {
                remove_folder(folder_); // nobody else will
                throw TeamOver();
            }
            if (is_decided(member) && !watches_[member].alive()) {
                auto part = read_whole(part_path(member)); // its last word
                lost_[member] = !part;
                return part;
            }
        }
        std::this_thread::sleep_for(kLookAgain);
    }
    return {};
}

} // namespace plumb::team
