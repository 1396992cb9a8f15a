#include "trial/contest.h"

#include "repeat/preparation.h"
#include "repeat/process.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <utility>

namespace plumb::trial {

namespace {

constexpr uint64_t kLeastRoom_bytes = 64 << 10; // below that a program may have failed to write its output

std::vector<std::string> names_of(const std::vector<std::string>& files) {
    std::vector<std::string> names{"stdout"};
    names.insert(names.end(), files.begin(), files.end());
    return names;
}

bool is_full(const std::string& directory) {
    struct statvfs disk {};
    return statvfs(directory.c_str(), &disk) == 0 && disk.f_bavail * disk.f_frsize < kLeastRoom_bytes;
}

} // namespace

Contest::Contest(std::vector<std::string> outputs, std::string directory, std::string prepare,
                 std::function<void(const Contestant&, size_t)> on_run)
    : outputs_(std::move(outputs)), directory_(std::move(directory)), prepare_(std::move(prepare)), on_run_(std::move(on_run)),
      judge_(names_of(outputs_)) {}

size_t Contest::add(Contestant contestant) {
    contestants_.push_back(std::move(contestant));
    runs_.emplace_back(rounds_);
    return contestants_.size() - 1;
}

TimedRun Contest::left_behind(const std::string& output) const {
    TimedRun run;
    run.fingerprints.push_back(fingerprint_of(output));
    for (const std::string& file : outputs_)
        run.fingerprints.push_back(fingerprint_of(file));
    return run;
}

std::optional<TimedRun> Contest::take(const Contestant& contestant, size_t round) {
    on_run_(contestant, round);
    const std::string file = directory_ + "/" + contestant.id, output = file + ".out";
    stopped_ = repeat::prepare_run(prepare_, {}, file + ".prepare");
    if (!stopped_.empty())
        return std::nullopt;
    const std::vector<std::string>& words = contestant.launch.words;
    const repeat::ProcessResult result = repeat::run_process(
        {words, words.front() == "plumb" ? repeat::kPlumbItself : "", contestant.launch.environment, output, file + ".err"});
    if (const int signal = repeat::caught_signal()) {
        stopped_ = strsignal(signal);
        return std::nullopt;
    }
    if (is_full(directory_)) {
        stopped_ = fmt::format("the disk of {} is full", directory_);
        return std::nullopt;
    }
    TimedRun run = left_behind(output);
    run.wall_s = result.wall_s;
    run.cpu_s = result.cpu_s;
    run.resident_bytes = result.resident_bytes;
    run.exit_status = result.exit_status;
    longest_s_ = std::max(longest_s_, run.wall_s);
    return run;
}

std::optional<statistics::Spread> Contest::base_walls() const {
    std::vector<double> walls;
    if (!runs_.empty())
        for (const std::optional<TimedRun>& run : runs_.front())
            if (run)
                walls.push_back(run->wall_s);
    if (walls.empty())
        return std::nullopt;
    return statistics::spread_of(walls);
}

Pairs Contest::pairs_of(size_t base, size_t other, size_t from_round) const {
    const auto rest = [from_round](const Rounds& all) {
        return Rounds(all.begin() + static_cast<std::ptrdiff_t>(from_round), all.end());
    };
    return judge_.pairs_of(rest(runs_[base]), rest(runs_[other]));
}

void Contest::warm_up() {
    if (const std::optional<TimedRun> run = take(contestants_.front(), 0))
        judge_.add_base(*run);
}

void Contest::round(const std::vector<size_t>& who) {
    for (Rounds& runs : runs_)
        runs.emplace_back();
    rounds_++;
    for (const size_t index : who) {
        std::optional<TimedRun> run = take(contestants_[index], rounds_);
        if (!run)
            return;
        if (index == 0)
            judge_.add_base(*run);
        runs_[index].back() = std::move(run);
    }
}

} // namespace plumb::trial
