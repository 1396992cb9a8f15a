#include "trial/try_cures.h"

#include "analyses/lines/launch_command.h"
#include "analysis/analyse_run.h"
#include "platform/read_file.h"
#include "repeat/child_run.h"
#include "repeat/preparation.h"
#include "repeat/process.h"
#include "support/error.h"
#include "support/figures.h"
#include "trial/contest.h"
#include "trial/gather_facts.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <string_view>

namespace plumb::trial {

namespace {

namespace fs = std::filesystem;

constexpr double kShareOfSingles = 0.6; // of the time; the rest is for the best once more, and together

std::string cpu_model() {
    const std::string text = platform::read_file("/proc/cpuinfo", 4096).value_or("");
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::string_view line = platform::next_line(rest);
        const size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string_view::npos)
            return std::string(line.substr(colon + 2));
    }
    return "";
}

class Trial {
  public:
    Trial(const TryOptions& options, const std::function<void(const std::string&)>& on_progress)
        : options_(options), on_progress_(on_progress),
          contest_(options.outputs, options.directory, options.prepare, [this](const Contestant& contestant, size_t round) {
              on_progress_(round == 0 ? std::string("a run to warm up") : fmt::format("round {}: {}", round, contestant.id));
          }) {}

    Outcome take() && {
        make_directory();
        record_first_run();
        if (!options_.only_list && outcome_.stopped.empty())
            measure();
        finish();
        return std::move(outcome_);
    }

  private:
    using Clock = std::chrono::steady_clock;

    double left_s() const { return options_.time_s - std::chrono::duration<double>(Clock::now() - begin_).count(); }

    void make_directory() const {
        std::error_code failure;
        if (fs::exists(options_.directory, failure))
            throw Error(fmt::format("{} exists: the runs need a new folder (-o)", options_.directory));
        if (fs::create_directories(options_.directory, failure); failure)
            throw Error(fmt::format("cannot make the folder {} for the runs: {}", options_.directory, failure.message()));
    }

    void record_first_run() {
        on_progress_("the first run, recorded");
        const std::string folder = options_.directory + "/run", output = options_.directory + "/first.out",
                          errors = options_.directory + "/first.err";
        if (const std::string why = repeat::prepare_run(options_.prepare, {}, options_.directory + "/first.prepare"); !why.empty())
            throw Error(why);
        const repeat::ChildResult first = repeat::record_child({options_.command, {}, {}, folder, output, errors});
        outcome_.line = shell_line(options_.command);
        outcome_.program = options_.command.front();
        outcome_.directory = options_.directory;
        outcome_.machine = cpu_model();
        outcome_.rules = options_.rules;
        if (const int signal = repeat::caught_signal()) {
            outcome_.stopped = strsignal(signal);
            return;
        }
        if (!first.is_whole)
            throw Error(fmt::format("the first run was not recorded whole (exit status {}). It wrote: {}", first.exit_status,
                                    platform::read_file(errors, 2000).value_or("")),
                        first.exit_status == 126 || first.exit_status == 127 ? first.exit_status : Error::kToolFailed);
        const AnalysedRun run = analyse_run(folder, {});
        outcome_.first_run_s = static_cast<double>(run.report.run->wall_ns()) * 1e-9;
        const Facts facts = gather_facts(run.report);
        set_ = facts.environment;
        outcome_.cures = select_cures(all_cures(facts), run.report.findings, options_.wanted);
        for (CureOutcome& one : outcome_.cures)
            one.line = launch_line(launch_of({&one.cure}));
    }

    Launch launch_of(const std::vector<const Cure*>& cures) const {
        std::vector<Change> changes;
        for (const Cure* cure : cures)
            changes.push_back(cure->change);
        return launch_with(changes, set_, options_.command);
    }

    // Of the cures to try, by index into the outcome; index + 1 is that of the contestant.
    void measure() {
        contest_.add({"base", launch_with({}, {}, options_.command)});
        std::vector<size_t> undecided;
        for (size_t i = 0; i < outcome_.cures.size(); ++i) {
            contest_.add({outcome_.cures[i].cure.id, launch_of({&outcome_.cures[i].cure})});
            if (outcome_.cures[i].state == State::measured)
                undecided.push_back(i);
        }
        if (undecided.empty())
            return;
        contest_.warm_up();
        if (!contest_.stopped().empty())
            return;
        const size_t most = affordable(contest_.longest_s(), kShareOfSingles * left_s());
        for (size_t i = most; i < undecided.size(); ++i) {
            outcome_.cures[undecided[i]].state = State::not_tried;
            outcome_.cures[undecided[i]].why = "the time is too short for so many";
        }
        undecided.resize(std::min(undecided.size(), most));
        run_singles(undecided);
        const std::vector<size_t> together = confirmed_together();
        if (together.empty())
            return;
        const CureOutcome& best = outcome_.cures[together.front()];
        outcome_.best = {together.front()};
        outcome_.best_is_confirmed = is_better_again(best);
        outcome_.best_measured = outcome_.best_is_confirmed ? *best.once_more : best.measured;
        if (together.size() > 1 && contest_.stopped().empty())
            run_combination(together);
    }

    // False: the time is over, or something ended the contest.
    bool may_run(size_t runs) {
        if (!contest_.stopped().empty())
            return false;
        if (contest_.longest_s() * static_cast<double>(runs) <= left_s())
            return true;
        outcome_.stopped = fmt::format("the time of {} is over (--time)", format_seconds(options_.time_s));
        return false;
    }

    void run_singles(std::vector<size_t> undecided) {
        const std::vector<size_t> tried = undecided;
        const size_t most_rounds = 2 * options_.rules.most_pairs; // where the command fails often, not each gives a pair
        for (size_t round = 0; round < most_rounds && !undecided.empty() && may_run(runs_of_rounds(undecided.size()));
             ++round) {
            for (size_t begin = 0; begin < undecided.size() && contest_.stopped().empty(); begin += kCuresInRound) {
                std::vector<size_t> who{0};
                for (size_t i = begin; i < std::min(begin + kCuresInRound, undecided.size()); ++i)
                    who.push_back(undecided[i] + 1);
                run_round(std::move(who), round);
            }
            std::erase_if(undecided, [&](size_t i) { return is_decided(outcome_.cures[i], i + 1, false); });
        }
        for (const size_t i : undecided)
            is_decided(outcome_.cures[i], i + 1, true);
        for (const size_t i : tried)
            if (const Pairs pairs = contest_.pairs_of(0, i + 1);
                !pairs.failure.empty() || outcome_.cures[i].state == State::failed)
                fail(outcome_.cures[i], pairs.failure); // what the base did since may have excused it
    }

    // Every other time in the opposite order: what changes slowly on the machine then changes all of them alike.
    void run_round(std::vector<size_t> who, size_t round) {
        if (round % 2)
            std::ranges::reverse(who);
        contest_.round(who);
    }

    static void fail(CureOutcome& one, const std::string& failure) {
        one.state = failure.empty() ? State::measured : State::failed;
        one.why = failure;
    }

    bool is_decided(CureOutcome& one, size_t contestant, bool is_last) {
        const Pairs pairs = contest_.pairs_of(0, contestant);
        one.measured = measurement_of(pairs, options_.rules, is_last);
        if (!pairs.failure.empty())
            fail(one, pairs.failure);
        return one.state == State::failed || one.measured.decision.verdict != Verdict::undecided ||
               one.measured.decision.pairs >= options_.rules.most_pairs;
    }

    static bool is_better_again(const CureOutcome& one) {
        return one.once_more && one.once_more->decision.verdict == Verdict::better;
    }

    // Cures that go together, the best first; each was better once more, unless the trial had to end before that was decided.
    std::vector<size_t> confirmed_together() {
        while (true) {
            const std::vector<size_t> together = best_together(outcome_.cures);
            std::vector<size_t> open;
            std::ranges::copy_if(together, std::back_inserter(open), [&](size_t i) { return !outcome_.cures[i].once_more; });
            if (open.empty())
                return together;
            confirm(open);
        }
    }

    // Sets once_more of each, be it without a pair.
    void confirm(std::vector<size_t> undecided) {
        const size_t before = contest_.rounds(), most_rounds = 2 * options_.rules.most_pairs;
        const auto look = [&](size_t i, bool is_last) {
            CureOutcome& one = outcome_.cures[i];
            one.once_more = measurement_of(contest_.pairs_of(0, i + 1, before), options_.rules, is_last);
            if (const Pairs all = contest_.pairs_of(0, i + 1); !all.failure.empty())
                fail(one, all.failure);
            const Decision& decision = one.once_more->decision;
            const bool is_decided = decision.verdict != Verdict::undecided || decision.pairs >= options_.rules.most_pairs;
            one.is_doubtful = is_decided && decision.verdict != Verdict::better;
            return is_decided || one.state == State::failed;
        };
        for (const size_t i : undecided)
            look(i, false);
        for (size_t round = 0; round < most_rounds && !undecided.empty() && may_run(undecided.size() + 1); ++round) {
            std::vector<size_t> who{0};
            for (const size_t i : undecided)
                who.push_back(i + 1);
            run_round(std::move(who), round);
            std::erase_if(undecided, [&](size_t i) { return look(i, false); });
        }
        for (const size_t i : undecided)
            look(i, true);
    }

    void run_combination(const std::vector<size_t>& together) {
        Combination combination;
        combination.cures = together;
        std::vector<const Cure*> cures;
        for (const size_t i : together)
            cures.push_back(&outcome_.cures[i].cure);
        const Launch launch = launch_of(cures);
        combination.line = launch_line(launch);
        const size_t best = together.front() + 1, all = contest_.add({"together", launch});
        constexpr size_t kRuns = 3;
        bool is_decided = false;
        for (size_t round = 0;
             round < options_.rules.most_pairs && !is_decided && combination.failure.empty() && may_run(kRuns); ++round) {
            run_round({0, best, all}, round);
            const Pairs pairs = contest_.pairs_of(best, all);
            combination.failure = contest_.pairs_of(0, all).failure;
            combination.against_best = measurement_of(pairs, options_.rules, false);
            is_decided = combination.against_best.decision.verdict != Verdict::undecided;
        }
        if (!is_decided)
            combination.against_best = measurement_of(contest_.pairs_of(best, all), options_.rules, true);
        combination.against_base = measurement_of(contest_.pairs_of(0, all), options_.rules, true);
        const auto is_better = [](const Measurement& one) { return one.decision.verdict == Verdict::better; };
        if (combination.failure.empty() && is_better(combination.against_best) && is_better(combination.against_base)) {
            outcome_.best = together;
            outcome_.best_measured = combination.against_base;
            outcome_.best_is_confirmed = true; // all its pairs are new
        }
        outcome_.combination = std::move(combination);
    }

    void finish() {
        const Judge& judge = contest_.judge();
        outcome_.base_runs = judge.base_runs();
        outcome_.unusual_base_runs = judge.unusual_runs();
        outcome_.usual_status = judge.usual_status();
        outcome_.changing_outputs = judge.changing();
        outcome_.base_wall_s = contest_.base_walls();
        outcome_.signal = repeat::caught_signal();
        if (!contest_.stopped().empty())
            outcome_.stopped = contest_.stopped();
        if (!outcome_.best.empty())
            outcome_.best_line =
                outcome_.best.size() > 1 ? outcome_.combination->line : outcome_.cures[outcome_.best.front()].line;
        for (const std::string& output : options_.outputs)
            if (std::ranges::find(outcome_.changing_outputs, output) == outcome_.changing_outputs.end())
                outcome_.compared_outputs.push_back(output);
        if (std::ranges::find(outcome_.changing_outputs, "stdout") == outcome_.changing_outputs.end())
            outcome_.compared_outputs.insert(outcome_.compared_outputs.begin(), "stdout");
    }

    const TryOptions& options_;
    const std::function<void(const std::string&)>& on_progress_;
    Contest contest_;
    Outcome outcome_;
    std::map<std::string, std::string> set_; // in the environment
    Clock::time_point begin_ = Clock::now();
};

} // namespace

Outcome try_cures(const TryOptions& options, const std::function<void(const std::string&)>& on_progress) {
    repeat::keep_signals_from_ending_plumb();
    return Trial(options, on_progress).take();
}

} // namespace plumb::trial
