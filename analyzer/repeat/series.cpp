#include "repeat/series.h"

#include "repeat/child_run.h"
#include "repeat/preparation.h"
#include "repeat/process.h"
#include "repeat/turns.h"
#include "support/error.h"

#include <cstring>
#include <filesystem>
#include <fmt/format.h>

namespace plumb::repeat {

namespace {

namespace fs = std::filesystem;

constexpr size_t kRoundsOfFailures = 3; // of nothing else: then it will not get better

void make_folder(const fs::path& path) {
    std::error_code failure;
    fs::create_directories(path, failure);
    if (failure)
        throw Error(fmt::format("cannot make the folder {} for the runs: {}", path.string(), failure.message()));
}

class Recording {
  public:
    explicit Recording(const SeriesOptions& options) : options_(options) {
        std::error_code failure;
        if (fs::exists(options.directory, failure))
            throw Error(fmt::format("{} exists: the runs need a new folder (-o)", options.directory));
        for (const SeriesCommand& command : options.commands)
            make_folder(fs::path(options.directory) / command.set);
    }

    SeriesResult take_all(const std::function<void(size_t, size_t)>& on_run) && {
        const std::vector<Turn> turns = turns_of(options_.commands.size(), options_.warm_up_rounds, options_.rounds);
        size_t done = 0;
        while (done < turns.size() && result_.stopped.empty()) {
            on_run(done, turns.size());
            take(turns[done++]);
            result_.signal = caught_signal();
            if (result_.signal)
                result_.stopped = strsignal(result_.signal);
            else if (fails_always())
                result_.stopped = "every run failed";
        }
        on_run(done, turns.size());
        return std::move(result_);
    }

  private:
    // Recorded where no set is looked for, and moved into its set when it is whole.
    void take(const Turn& turn) {
        const SeriesCommand& command = options_.commands[turn.command];
        const fs::path folder = fs::path(options_.directory) / command.set, partial = fs::path(options_.directory) / "partial";
        const std::string name = fmt::format("{}{:03}", turn.is_warm_up ? "warm-up-" : "", turn.round + 1);
        const fs::path errors = folder / (name + ".err");
        result_.stopped = prepare_run(command.prepare, command.environment, (folder / (name + ".prepare")).string());
        if (!result_.stopped.empty() || caught_signal())
            return;
        std::vector<std::string> record_options = options_.record_options;
        record_options.insert(record_options.end(), command.record_options.begin(), command.record_options.end());
        const ChildResult child = record_child({command.words, record_options, command.environment, partial.string(),
                                                (folder / (name + ".out")).string(), errors.string()});
        if (caught_signal())
            return drop(partial);
        if (child.is_whole && child.exit_status == 0 && options_.reason_to_end)
            result_.stopped = options_.reason_to_end(turn.command, partial.string());
        if (turn.is_warm_up)
            return drop(partial);
        if (!child.is_whole) {
            result_.stopped = fmt::format("run {} of {} was not recorded whole. It wrote: {}", name, command.set,
                                          end_of_file(errors.string()));
            return drop(partial);
        }
        const bool has_failed = child.exit_status != 0 && !options_.failures_count;
        const fs::path set = has_failed ? fs::path(options_.directory) / "failed" / command.set : folder;
        make_folder(set);
        std::error_code failure;
        fs::rename(partial, set / name, failure);
        if (failure) {
            result_.stopped = fmt::format("cannot move run {} into {}: {}", name, set.string(), failure.message());
            return;
        }
        (has_failed ? result_.failed : result_.runs)
            .push_back({turn.command, turn.round, (set / name).string(), child.exit_status});
        if (has_failed)
            result_.last_errors = end_of_file(errors.string());
    }

    static void drop(const fs::path& partial) {
        std::error_code failure;
        fs::remove_all(partial, failure);
    }

    bool fails_always() const {
        return result_.runs.empty() && result_.failed.size() >= kRoundsOfFailures * options_.commands.size();
    }

    const SeriesOptions& options_;
    SeriesResult result_;
};

} // namespace

SeriesResult record_series(const SeriesOptions& options, const std::function<void(size_t, size_t)>& on_run) {
    keep_signals_from_ending_plumb();
    return Recording(options).take_all(on_run);
}

} // namespace plumb::repeat
