// Samples a command, unwinds each stack by plumb's unwinder, by libunwind and by libdwfl, and compares them frame by frame.
//   unwind-witness COMMAND ARGUMENT...
// Prints a JSON object: how many stacks, frames and complete stacks, frames a microsecond of each unwinder when all is known,
// agreements by kind, the code addresses met (as hashes of file and offset), and the first disagreements that nothing explains.
// Ends with 77 where the kernel refuses samples, with 1 where the command gives none.
#include "comparison.h"

#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <unordered_set>

using namespace plumb::witness;

namespace {

constexpr size_t kShownDisagreements = 5;
constexpr double kLeastTime_us = 20'000; // of each unwinder, so that a clock's tick does not matter

double cpu_time_us() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

struct Totals {
    size_t complete = 0;
    size_t frames = 0;
    double timed_frames = 0, timed_us = 0;
};

using Stacks = std::vector<const Sample*>;

// Whole rounds over all stacks. What the unwinder remembers of the code it has from the comparison.
void time_walker(Walker& walker, const Stacks& stacks, Totals& totals) {
    Walk walk;
    const double begin = cpu_time_us();
    double frames = 0, time_us = 0;
    do {
        for (const Sample* sample : stacks) {
            walker.walk(*sample, walk);
            frames += static_cast<double>(walk.frames.size());
        }
        time_us = cpu_time_us() - begin;
    } while (time_us < kLeastTime_us);
    totals.timed_frames += frames;
    totals.timed_us += time_us;
}

// Also the same from one run of the program to the next.
std::string place_of(const Program& program, uint64_t address) {
    const Mapping* const mapping = program.at(address);
    char text[32];
    std::snprintf(text, sizeof text, "+%lx", mapping ? address - mapping->start + mapping->file_offset : address);
    return (mapping ? mapping->path : "?") + text;
}

// A word that is no address of code cannot be a return address: ours sees that, the others leave it to whoever reads the frames.
void end_where_no_code_is(const Program& program, Walk& walk) {
    for (size_t frame = 1; frame < walk.frames.size(); ++frame)
        if (!program.at(walk.frames[frame] - 1)) {
            walk.frames.resize(frame);
            walk.complete = false;
        }
}

class Comparison {
  public:
    void add_program(const Program& program, const Stacks& stacks) {
        const ModuleFiles files(program);
        const auto ours = our_walker(program), libunwind = libunwind_walker(files);
        const auto libdwfl = libdwfl_walker(files);
        Walker* const walkers[] = {ours.get(), libunwind.get(), libdwfl.get()};
        for (const Sample* sample : stacks) {
            Walk walks[3];
            for (size_t i = 0; i < 3; ++i) {
                walkers[i]->walk(*sample, walks[i]);
                end_where_no_code_is(program, walks[i]);
                totals_[i].complete += walks[i].complete;
                totals_[i].frames += walks[i].frames.size();
            }
            const Agreement with[] = {compare_with_libunwind(walks[0], walks[1], walks[2], files, *libdwfl),
                                      compare_with_libdwfl(walks[0], walks[2], files, *libdwfl)};
            for (size_t i = 0; i < 2; ++i)
                ++agreements_[i][static_cast<size_t>(with[i])];
            if (with[0] == Agreement::unexplained || with[1] == Agreement::unexplained)
                show(program, walks);
            for (size_t frame = 0; frame < walks[0].frames.size(); ++frame)
                if (const uint64_t address = walks[0].frames[frame] - (frame > 0 ? 1 : 0); program.at(address))
                    places_.insert(std::hash<std::string>()(place_of(program, address)));
        }
        stacks_ += stacks.size();
        for (size_t i = 0; i < 3; ++i)
            time_walker(*walkers[i], stacks, totals_[i]);
    }

    nlohmann::json result() const {
        nlohmann::json all{{"stacks", stacks_}, {"places", places_}, {"unexplained", shown_}};
        for (size_t i = 0; i < 3; ++i)
            all["unwinders"][kNames[i]] = {{"complete", totals_[i].complete},
                                           {"frames", totals_[i].frames},
                                           {"timed_frames", totals_[i].timed_frames},
                                           {"timed_us", totals_[i].timed_us}};
        for (size_t i = 0; i < 2; ++i)
            for (size_t kind = 0; kind < kAgreements; ++kind)
                all["agreements"][kNames[i + 1]][kAgreementNames[kind]] = agreements_[i][kind];
        return all;
    }

  private:
    void show(const Program& program, const Walk (&walks)[3]) {
        if (shown_.size() >= kShownDisagreements)
            return;
        nlohmann::json shown;
        for (size_t i = 0; i < 3; ++i) {
            for (size_t frame = 0; frame < walks[i].frames.size(); ++frame)
                shown[kNames[i]].push_back(place_of(program, walks[i].frames[frame] - (frame > 0 ? 1 : 0)));
            shown[kNames[i]].push_back(walks[i].complete ? "the outermost frame" : "no further");
        }
        shown_.push_back(std::move(shown));
    }

    static constexpr const char* kNames[] = {"ours", "libunwind", "libdwfl"};
    size_t stacks_ = 0;
    Totals totals_[3];
    size_t agreements_[2][kAgreements] = {};
    std::unordered_set<uint64_t> places_;
    std::vector<nlohmann::json> shown_;
};

} // namespace

int main(int count, char** arguments) {
    if (count < 2) {
        std::fprintf(stderr, "usage: unwind-witness COMMAND ARGUMENT...\n");
        return 2;
    }
    const Samples samples = sample_program(arguments + 1, {});
    if (!samples.error.empty()) {
        std::fprintf(stderr, "%s\n", samples.error.c_str());
        return 77;
    }
    Comparison comparison;
    for (size_t program = 0; program < samples.programs.size(); ++program) {
        Stacks stacks;
        for (const Sample& sample : samples.all)
            if (sample.program == program)
                stacks.push_back(&sample);
        if (!stacks.empty())
            comparison.add_program(samples.programs[program], stacks);
    }
    std::puts(comparison.result().dump().c_str());
    return samples.all.empty() ? 1 : 0;
}
