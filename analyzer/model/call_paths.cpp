#include "model/call_paths.h"

#include <algorithm>
#include <set>

namespace plumb::model {

namespace {

// A damaged file may hold a parent chain that is a ring; real stacks are far shorter.
constexpr size_t kMaxDepth = 100'000;

uint64_t lifetime(const Module& module) {
    return module.unloaded_ns > module.loaded_ns ? module.unloaded_ns - module.loaded_ns : 0;
}

// A return address may be the first of the next function: the call lies before it.
uint64_t looked_up(const PathNode& node) {
    return node.leaf || node.address == 0 ? node.address : node.address - 1;
}

SourceFrame in_module(const char* module) {
    SourceFrame frame;
    frame.module = module;
    return frame;
}

} // namespace

CallPaths::CallPaths(const Run& run, SourceResolver& resolver)
    : run_(run), resolver_(resolver), unknown_frames_{in_module("[unknown]")} {}

// Where mappings of different times overlap, the one that lasted longest wins: nodes of the tree carry no time.
const std::vector<CallPaths::Range>& CallPaths::ranges_of(size_t process) const {
    auto [entry, is_new] = ranges_.try_emplace(process);
    std::vector<Range>& ranges = entry->second;
    if (!is_new || process >= run_.processes.size())
        return ranges;
    const std::vector<Module>& modules = run_.processes[process].modules;
    struct Edge {
        uint64_t address;
        bool begins;
        size_t module;
    };
    std::vector<Edge> edges;
    for (size_t i = 0; i < modules.size(); ++i) {
        if (modules[i].start >= modules[i].end)
            continue;
        edges.push_back({modules[i].start, true, i});
        edges.push_back({modules[i].end, false, i});
    }
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.address < b.address; });
    auto longer = [&](size_t a, size_t b) {
        const uint64_t life_a = lifetime(modules[a]), life_b = lifetime(modules[b]);
        return life_a != life_b ? life_a > life_b : a < b;
    };
    std::set<size_t, decltype(longer)> open(longer);
    for (size_t i = 0; i < edges.size(); ++i) {
        if (edges[i].begins)
            open.insert(edges[i].module);
        else
            open.erase(edges[i].module);
        if (i + 1 == edges.size() || open.empty() || edges[i + 1].address == edges[i].address)
            continue;
        if (!ranges.empty() && ranges.back().module == *open.begin() && ranges.back().end == edges[i].address)
            ranges.back().end = edges[i + 1].address;
        else
            ranges.push_back({edges[i].address, edges[i + 1].address, *open.begin()});
    }
    return ranges;
}

const Module* CallPaths::module_of(size_t process, uint64_t address) const {
    const std::vector<Range>& ranges = ranges_of(process);
    auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                  [](uint64_t a, const Range& range) { return a < range.start; });
    if (after == ranges.begin() || address >= std::prev(after)->end)
        return nullptr;
    return &run_.processes[process].modules[std::prev(after)->module];
}

namespace {

enum class Owner { user, library, system };

Owner owner_of(const Module* module, bool kernel) {
    if (!module || kernel || module->kind == Module::Kind::kernel || module->kind == Module::Kind::vdso)
        return Owner::system;
    if (module->kind == Module::Kind::program || module->kind == Module::Kind::anonymous)
        return Owner::user;
    if (is_system_module(module->path))
        return Owner::system;
    for (const char* directory : {"/usr/lib", "/lib"}) // lib32, lib64 and libexec included
        if (module->path.starts_with(directory))
            return Owner::library;
    return Owner::user;
}

// Linked into every program by the compiler: nobody wrote it.
bool is_start_up_code(const std::string& function) {
    const std::string name = function.substr(0, function.find('+'));
    for (const char* known : {"_start", "__libc_start_main", "__libc_start_call_main", "_init", "_fini",
                              "__do_global_dtors_aux", "frame_dummy", "register_tm_clones",
                              "deregister_tm_clones"})
        if (name == known)
            return true;
    return false;
}

bool is_named(const SourceFrame& frame) {
    return !frame.function.empty() && !frame.function.starts_with(frame.module + "+0x");
}

constexpr int kOwnNamed = 2, kAnyFrame = 7;

// The list in the header; 1 is best.
int rank_of(const SourceFrame& frame, Owner owner) {
    if (owner == Owner::system)
        return kAnyFrame;
    if (owner == Owner::library)
        return frame.line != 0 ? 4 : is_named(frame) ? 5 : kAnyFrame;
    if (frame.line != 0)
        return is_system_source(frame.file) ? 3 : 1;
    if (is_start_up_code(frame.function))
        return kAnyFrame;
    return is_named(frame) ? kOwnNamed : 6;
}

} // namespace

std::vector<SourceFrame> CallPaths::resolve(size_t process, const Module* module, uint64_t address) {
    if (module->kind == Module::Kind::anonymous) {
        Module of_process = *module;
        of_process.pid = run_.processes[process].pid;
        return resolver_.resolve(of_process, address);
    }
    return owner_of(module, false) == Owner::system ? resolver_.resolve_symbol(*module, address)
                                                    : resolver_.resolve(*module, address);
}

CallPaths::CodePlace CallPaths::code_place(size_t process, const PathNode& path) {
    return {process, path.kernel, looked_up(path)};
}

std::vector<SourceFrame> CallPaths::frames_at_place(const CodePlace& place, const Module* module) {
    std::vector<SourceFrame> frames;
    if (module) {
        frames = resolve(place.process, module, place.address);
    } else if (place.kernel) {
        Module kernel;
        kernel.kind = Module::Kind::kernel;
        kernel.end = UINT64_MAX;
        frames = resolver_.resolve(kernel, place.address);
    }
    if (frames.empty())
        frames.push_back(in_module(place.kernel ? "[kernel]" : "[unknown]"));
    return frames;
}

CallPaths::PlaceFrames& CallPaths::place_of(size_t process, uint32_t node) {
    const std::vector<PathNode>& paths = run_.processes[process].paths;
    if (known_.size() <= process)
        known_.resize(run_.processes.size());
    if (known_[process].empty())
        known_[process].resize(paths.size());
    PlaceFrames*& known = known_[process][node].place;
    if (known)
        return *known;
    const CodePlace place = code_place(process, paths[node]);
    const auto [found, is_new] = places_.try_emplace(place);
    known = &found->second;
    if (!is_new)
        return *known;
    known->rank = kAnyFrame;
    const Module* module = module_of(process, place.address);
    const Owner owner = owner_of(module, place.kernel);
    if (owner == Owner::system)
        return *known;
    known->frames = frames_at_place(place, module);
    for (uint32_t i = 0; i < known->frames.size(); ++i)
        if (const int rank = rank_of(known->frames[i], owner); rank < known->rank) {
            known->best = i;
            known->rank = rank;
        }
    return *known;
}

const std::vector<SourceFrame>& CallPaths::frames_of(size_t process, uint32_t node) {
    if (process >= run_.processes.size() || node == 0 || node >= run_.processes[process].paths.size())
        return unknown_frames_;
    PlaceFrames& place = place_of(process, node);
    if (place.frames.empty()) {
        const CodePlace at = code_place(process, run_.processes[process].paths[node]);
        place.frames = frames_at_place(at, module_of(process, at.address));
    }
    return place.frames;
}

std::vector<SourceFrame> CallPaths::frames_at(size_t process, uint64_t address) {
    if (const Module* module = module_of(process, address))
        return resolve(process, module, address);
    return {};
}

std::optional<FunctionCode> CallPaths::function_code(size_t process, uint64_t address) {
    const Module* module = module_of(process, address);
    return module ? resolver_.function_code(*module, address) : std::nullopt;
}

std::string CallPaths::called_function(size_t process, uint32_t node) {
    if (process >= run_.processes.size() || node == 0 || node >= run_.processes[process].paths.size())
        return {};
    const PathNode& at = run_.processes[process].paths[node];
    const Module* module = at.leaf || at.kernel ? nullptr : module_of(process, at.address - 1);
    return module ? resolver_.called_function(*module, at.address) : std::string();
}

std::vector<SourceFrame> CallPaths::stack(size_t process, uint32_t node) {
    std::vector<SourceFrame> all;
    if (process >= run_.processes.size())
        return all;
    const std::vector<PathNode>& paths = run_.processes[process].paths;
    for (size_t depth = 0; node != 0 && node < paths.size() && depth < kMaxDepth; ++depth) {
        const std::vector<SourceFrame>& frames = frames_of(process, node);
        all.insert(all.end(), frames.begin(), frames.end());
        node = paths[node].parent;
    }
    return all;
}

// Many paths share their outer parts, so the answer for each node is kept: a path is walked only to the first node
// that is known, or to a frame that nothing can better.
uint32_t CallPaths::best_outwards(size_t process, uint32_t node) {
    const std::vector<PathNode>& paths = run_.processes[process].paths;
    std::vector<uint32_t> walked; // from `node` outwards
    uint32_t best = 0;
    for (size_t depth = 0; node != 0 && node < paths.size() && depth < kMaxDepth; ++depth) {
        const int rank = place_of(process, node).rank;
        if (const uint32_t known = known_[process][node].user_node) {
            best = known;
            break;
        }
        walked.push_back(node);
        if (rank == 1)
            break;
        node = paths[node].parent;
    }
    for (size_t i = walked.size(); i-- > 0;) {
        if (best == 0 || place_of(process, walked[i]).rank <= place_of(process, best).rank)
            best = walked[i];
        known_[process][walked[i]].user_node = best;
    }
    return best;
}

SourceFrame CallPaths::user_frame(size_t process, uint32_t node) {
    if (process >= run_.processes.size() || node == 0 || node >= run_.processes[process].paths.size())
        return frames_of(process, node).front();
    const PlaceFrames& best = place_of(process, best_outwards(process, node));
    if (best.rank == kAnyFrame) // nothing of interest on the way out: where it was
        return frames_of(process, node).front();
    return best.frames[best.best];
}

SourceFrame CallPaths::user_frame_at(size_t process, uint64_t address, uint32_t caller) {
    const std::vector<SourceFrame> frames = frames_at(process, address);
    const Owner owner = owner_of(module_of(process, address), false);
    SourceFrame best = frames.empty() ? in_module("[unknown]") : frames.front();
    int best_rank = kAnyFrame;
    for (const SourceFrame& frame : frames)
        if (const int rank = owner == Owner::system ? kAnyFrame : rank_of(frame, owner); rank < best_rank) {
            best = frame;
            best_rank = rank;
        }
    if (best_rank == 1 || process >= run_.processes.size())
        return best;
    const uint32_t outer_node = best_outwards(process, caller);
    if (outer_node == 0)
        return best;
    const PlaceFrames& outer = place_of(process, outer_node);
    return outer.rank < best_rank ? outer.frames[outer.best] : best;
}

std::vector<SourceFrame> CallPaths::user_callers(size_t process, uint32_t node, size_t most) {
    std::vector<SourceFrame> callers;
    if (process >= run_.processes.size() || node == 0 || node >= run_.processes[process].paths.size())
        return callers;
    const std::vector<PathNode>& paths = run_.processes[process].paths;
    node = best_outwards(process, node);
    if (node == 0 || place_of(process, node).rank > kOwnNamed)
        return callers;
    SourceFrame inner = place_of(process, node).frames[place_of(process, node).best];
    size_t next = place_of(process, node).best + 1;
    for (size_t depth = 0; node != 0 && node < paths.size() && depth < kMaxDepth && callers.size() < most; ++depth) {
        const PlaceFrames& place = place_of(process, node);
        const CodePlace at = code_place(process, paths[node]);
        const Owner owner = place.rank > kOwnNamed ? Owner::system : owner_of(module_of(process, at.address), at.kernel);
        for (; owner != Owner::system && next < place.frames.size() && callers.size() < most; ++next) {
            const SourceFrame& frame = place.frames[next];
            const bool again = frame.file == inner.file && frame.line == inner.line && frame.function == inner.function;
            if (again || rank_of(frame, owner) > kOwnNamed)
                continue;
            callers.push_back(frame);
            inner = frame;
        }
        node = paths[node].parent;
        next = 0;
    }
    return callers;
}

// Only executable mappings are recorded. A file's data lies behind its code as linkers lay them out, so the file whose
// code ends last before the address is asked first, then its neighbours.
std::optional<DataName> CallPaths::static_at(size_t process, const DataAccess& access) {
    const std::vector<Range>& ranges = ranges_of(process);
    const auto after = std::upper_bound(ranges.begin(), ranges.end(), access.address,
                                        [](uint64_t a, const Range& range) { return a < range.start; });
    const auto here = after - ranges.begin();
    std::set<std::string> asked;
    for (const auto place : {here - 1, here - 2, here}) {
        if (place < 0 || place >= static_cast<std::ptrdiff_t>(ranges.size()))
            continue;
        const Module& module = run_.processes[process].modules[ranges[static_cast<size_t>(place)].module];
        if (module.path.empty() || !asked.insert(module.path).second)
            continue;
        if (std::optional<DataName> name = resolver_.name_static(module, access.address, access.width, access.instruction))
            return name;
    }
    return {};
}

std::optional<DataName> CallPaths::local_at(size_t process, const DataAccess& access) {
    const Module* module = module_of(process, access.instruction);
    return module ? resolver_.name_local(*module, access) : std::nullopt;
}

std::optional<DataName> CallPaths::pointed_at(size_t process, const DataAccess& access) {
    const Module* module = module_of(process, access.instruction);
    return module ? resolver_.name_by_type(*module, access) : std::nullopt;
}

} // namespace plumb::model
