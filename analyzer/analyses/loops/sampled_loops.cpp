#include "analyses/loops/sampled_loops.h"

#include "analyses/loops/function_samples.h"
#include "analyses/loops/loop_entries.h"
#include "platform/code/decoder.h" // of the shim

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace plumb {

namespace {

constexpr double kPacked = 0.3; // of a loop's floating point operations are scalar at most

// Of the C library's mathematical functions, those of which it has versions for vectors (glibc 2.35:
// sysdeps/x86_64/fpu/Versions).
constexpr auto kVectorFunctions = std::to_array<std::string_view>(
    {"acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos",   "cosh",  "erf",   "erfc",
     "exp",  "exp10", "exp2", "expm1", "hypot", "log",  "log10", "log1p", "log2", "pow",   "sin",   "sincos",
     "sinh", "sqrt",  "tan",  "tanh"});

std::string called_name(std::string name) {
    if (name.ends_with("@plt"))
        name.resize(name.size() - 4);
    return name;
}

bool is_vector_function(std::string_view name) { return name.starts_with("_ZGV"); } // the vector function ABI's names

bool has_vector_version(std::string_view name) {
    if (name.starts_with("__")) // "__exp_finite"
        name = name.substr(2, name.find("_finite") == name.npos ? name.npos : name.find("_finite") - 2);
    if (name.ends_with('f') && name != "erf")
        name.remove_suffix(1);
    return std::ranges::find(kVectorFunctions, name) != kVectorFunctions.end();
}

class FunctionLoops {
  public:
    FunctionLoops(model::CallPaths& paths, const FunctionSamples& function)
        : paths_(paths), function_(function), flow_(code::control_flow_of(function.code.start, function.code.bytes)),
          dominators_(code::immediate_dominators(flow_)), loops_(code::natural_loops(flow_, dominators_)),
          samples_(flow_.blocks.size()) {
        for (const FunctionSamples::Hit& hit : function.hits)
            if (const std::optional<size_t> block = flow_.block_at(hit.address)) {
                samples_[*block].time_ns += hit.time_ns;
                samples_[*block].samples += hit.samples;
            }
    }

    void add_to(std::vector<SampledLoop>& all) {
        std::vector<SampledLoop> made;
        for (size_t i = 0; i < loops_.size(); ++i)
            if (loops_[i].is_innermost)
                made.push_back(sampled(i));
        for (SampledLoop& loop : made)
            find_twin(loop, made);
        for (SampledLoop& loop : made)
            if (loop.time_ns > 0)
                all.push_back(std::move(loop));
    }

  private:
    SampledLoop sampled(size_t number) {
        const code::Loop& loop = loops_[number];
        SampledLoop made;
        made.process = function_.process;
        made.module = function_.module;
        made.function = function_.name;
        made.compiler = code::compiler_of(function_.code.producer);
        made.facts = code::facts_of(flow_, dominators_, loops_, loop);
        made.around.rounds = rounds_of(flow_, dominators_, loops_, number, samples_);
        for (const FunctionSamples::Hit& hit : function_.hits) {
            const std::optional<size_t> block = flow_.block_at(hit.address);
            if (!block || !std::ranges::binary_search(loop.blocks, *block))
                continue;
            made.samples += hit.samples;
            made.time_ns += hit.time_ns;
            made.lines.add(line_of(hit, loop), hit.time_ns);
        }
        made.under_ns = made.time_ns;
        if (made.time_ns > 0 && !made.facts.calls.empty())
            look_at_calls(made);
        return made;
    }

    // The user's line of the function: compilers give no line to code that they made of several. Then any of the loop will do.
    model::SourceFrame line_of(const FunctionSamples::Hit& hit, const code::Loop& loop) {
        const auto is_users = [](const model::SourceFrame& frame) { return frame.line != 0 && !model::is_system_source(frame.file); };
        const std::vector<model::SourceFrame>& frames = paths_.frames_of(hit.process, hit.path);
        if (const auto found = std::ranges::find_if(frames, is_users); found != frames.end())
            return *found;
        for (const size_t block : loop.blocks)
            for (size_t i = flow_.blocks[block].begin; i < flow_.blocks[block].end; ++i) {
                const auto others = paths_.frames_at(function_.process, flow_.instructions[i].address);
                if (const auto found = std::ranges::find_if(others, is_users); found != others.end())
                    return *found;
            }
        return frames.back();
    }

    void look_at_calls(SampledLoop& loop) {
        loop.around.calls_compute = loop.around.calls_library = true;
        for (const code::LoopFacts::Call& call : loop.facts.calls) {
            const auto frames = call.target ? paths_.frames_at(function_.process, call.target) : std::vector<model::SourceFrame>();
            loop.callees.push_back(frames.empty() ? "" : called_name(frames.back().function));
            if (has_vector_version(loop.callees.back()))
                continue;
            loop.around.calls_library = false;
            if (is_vector_function(loop.callees.back()) || (call.always && !only_computes(call.target)))
                loop.around.calls_compute = false;
        }
        loop.under_ns += time_in_callees(loop);
    }

    // Code without loops and calls, which computes with floating point numbers: it could be part of the loop.
    bool only_computes(uint64_t target) {
        constexpr size_t kMostInstructions = 100;
        const auto callee = target ? paths_.function_code(function_.process, target) : std::nullopt;
        if (!callee || callee->start != target)
            return false;
        const code::ControlFlow flow = code::control_flow_of(callee->start, callee->bytes);
        const auto is_call = [](const code::Instruction& each) { return each.flow == code::Flow::call; };
        return flow.instructions.size() <= kMostInstructions && std::ranges::none_of(flow.instructions, is_call) &&
               std::ranges::any_of(flow.instructions, [](const code::Instruction& each) { return each.operation.computes(); }) &&
               code::natural_loops(flow, code::immediate_dominators(flow)).empty();
    }

    // Of all samples, those with a return address in the loop.
    double time_in_callees(const SampledLoop& loop) const {
        double time_ns = 0;
        const std::vector<model::Process>& processes = paths_.run().processes;
        const model::Module* const own = paths_.module_of(function_.process, loop.facts.begin);
        if (!own)
            return 0;
        const uint64_t begin = loop.facts.begin - own->start + own->file_offset, length = loop.facts.end - loop.facts.begin;
        for (size_t process = 0; process < processes.size(); ++process) {
            const std::vector<model::PathNode>& nodes = processes[process].paths;
            for (const model::SampleSite& site : processes[process].samples) {
                size_t depth = 0;
                for (uint32_t node = site.path; node != 0 && node < nodes.size() && depth < model::kMostCallers;
                     node = nodes[node].parent, ++depth) {
                    if (nodes[node].leaf || nodes[node].kernel || nodes[node].address == 0)
                        continue;
                    const model::Module* module = paths_.module_of(process, nodes[node].address - 1);
                    if (module && module->path == own->path &&
                        nodes[node].address - 1 - module->start + module->file_offset - begin < length) {
                        time_ns += static_cast<double>(site.time_ns);
                        break;
                    }
                }
            }
        }
        return time_ns;
    }

    // A packed loop that does the same on the same lines: the one is for what the other leaves over, or may not do.
    void find_twin(SampledLoop& loop, const std::vector<SampledLoop>& all) {
        if (loop.time_ns <= 0 || (loop.facts.scalar_share() < kPacked && loop.callees.empty()))
            return;
        double twins_ns = 0;
        for (const SampledLoop& other : all) {
            if (&other == &loop || !may_be_twins(loop, other))
                continue;
            loop.around.has_packed_twin = true;
            twins_ns += other.under_ns;
        }
        loop.around.twin_time = twins_ns / loop.under_ns;
    }

    bool may_be_twins(const SampledLoop& loop, const SampledLoop& other) {
        if (std::ranges::any_of(other.facts.calls, [&](const code::LoopFacts::Call& call) { return calls_vector_function(call); }))
            return !loop.callees.empty() && share_lines(loop.facts, other.facts);
        return other.facts.operations() > 0 && other.facts.scalar_share() < kPacked && code::do_alike(loop.facts, other.facts) &&
               share_lines(loop.facts, other.facts);
    }

    bool calls_vector_function(const code::LoopFacts::Call& call) {
        const auto frames = call.target ? paths_.frames_at(function_.process, call.target) : std::vector<model::SourceFrame>();
        return !frames.empty() && is_vector_function(frames.back().function);
    }

    using Lines = std::set<std::pair<std::string, uint32_t>>;

    // Of what it computes, loads and stores. Empty without debug info.
    Lines lines_of(const code::LoopFacts& facts) {
        Lines lines;
        for (const code::Instruction& each : flow_.instructions) {
            if (each.address < facts.begin || each.address >= facts.end || each.operation.element_bytes == 0)
                continue;
            const std::vector<model::SourceFrame> frames = paths_.frames_at(function_.process, each.address);
            if (!frames.empty() && frames.front().line != 0)
                lines.insert({frames.front().file, frames.front().line});
        }
        return lines;
    }

    bool share_lines(const code::LoopFacts& left, const code::LoopFacts& right) {
        const Lines of_left = lines_of(left), of_right = lines_of(right);
        return of_left.empty() || of_right.empty() ||
               std::ranges::any_of(of_left, [&](const auto& line) { return of_right.contains(line); });
    }

    model::CallPaths& paths_;
    const FunctionSamples& function_;
    code::ControlFlow flow_;
    std::vector<size_t> dominators_;
    std::vector<code::Loop> loops_;
    std::vector<BlockSamples> samples_;
};

} // namespace

std::vector<SampledLoop> sampled_loops_of(model::CallPaths& paths, double least_share) {
    std::vector<SampledLoop> loops;
    if (!shim::load_decoder(nullptr))
        return loops;
    double total_ns = 0;
    for (const model::Process& process : paths.run().processes)
        for (const model::SampleSite& site : process.samples)
            total_ns += static_cast<double>(site.time_ns);
    // A loop that calls may have little time of its own.
    constexpr double kOwnPart = 0.05;
    for (const FunctionSamples& function : function_samples_of(paths, kOwnPart * least_share * total_ns))
        FunctionLoops(paths, function).add_to(loops);
    std::erase_if(loops, [&](const SampledLoop& loop) { return loop.under_ns < least_share * total_ns || total_ns <= 0; });
    std::ranges::stable_sort(loops, std::greater{}, &SampledLoop::under_ns);
    return loops;
}

} // namespace plumb
