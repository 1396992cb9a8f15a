#include "diagnoses/heap/allocation_parts.h"

#include "model/call_paths.h"
#include "model/source_line.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace plumb {

namespace {

// "std::vector<double>::_M_fill(unsigned long)" -> "std::vector::_M_fill": types in brackets may hold any name.
std::string without_types(std::string_view function) {
    std::string plain;
    size_t depth = 0;
    for (char letter : function) {
        if (letter == '<')
            depth++;
        else if (letter == '>' && depth > 0)
            depth--;
        else if (depth == 0 && letter == '(')
            break;
        else if (depth == 0)
            plain += letter;
    }
    return plain;
}

bool frees(const std::string& function) {
    const std::string plain = without_types(function);
    return plain.find("free") != plain.npos || plain.find("operator delete") != plain.npos;
}

struct Function {
    std::string module, name;
    auto operator<=>(const Function&) const = default;
};

// What the sampled call paths say of one function.
struct Calls {
    bool to_free = false, to_others = false;
    uint64_t freeing_samples = 0; // in user mode: giving large blocks back to the kernel is no walk
};

class Classifier {
  public:
    explicit Classifier(model::CallPaths& paths) : paths_(paths), allocator_(paths) {}

    AllocationParts parts() {
        learn();
        AllocationParts parts;
        uint64_t in_allocator = 0;
        std::map<Function, uint64_t> released;
        for_each_site([&](size_t process, const model::SampleSite& site, bool allocates) {
            const uint64_t samples = site.samples - std::min(site.kernel_samples, site.samples);
            if (allocates)
                in_allocator += site.samples;
            else if (samples > 0 && is_contents(process, site.path))
                parts.contents += samples;
            else if (samples > 0 && only_frees(process, site.path))
                released[function_of(process, site.path)] += samples;
            else if (samples > 0 && is_call_line(process, site.path))
                parts.calls += samples;
        });
        for (const auto& [function, samples] : released)
            parts.release += std::min(samples, functions_[function].freeing_samples);
        parts.calls = std::min(parts.calls, in_allocator);
        return parts;
    }

  private:
    // Calls visit(process, site, whether the allocator is on its path) for every site but those in the shim.
    template <typename Visit> void for_each_site(Visit visit) {
        const std::vector<model::Process>& processes = paths_.run().processes;
        for (size_t process = 0; process < processes.size(); process++)
            for (const model::SampleSite& site : processes[process].samples)
                if (site.path != 0 && site.path < processes[process].paths.size() &&
                    !model::is_shim_module(paths_.frames_of(process, site.path).front().module))
                    visit(process, site, allocator_.innermost(process, site.path) != 0);
    }

    void learn() {
        const std::vector<model::Process>& processes = paths_.run().processes;
        for (size_t process = 0; process < processes.size(); process++) {
            known_edges_.emplace_back(processes[process].paths.size(), false);
            for (const model::HeapSite& site : processes[process].heap.sites) // who allocates, however little time that takes
                if (const uint32_t caller = allocator_.caller(process, site.path); caller != 0)
                    functions_[function_of(process, caller)].to_others = true;
        }
        for_each_site([&](size_t process, const model::SampleSite& site, bool allocates) {
            if (const uint32_t caller = allocates ? allocator_.caller(process, site.path) : 0; caller != 0) {
                call_lines_.insert(model::source_line(paths_.frames_of(process, caller).front()));
                user_lines_.insert(model::source_line(paths_.user_frame(process, caller)));
            }
            learn_calls(process, site);
        });
    }

    // Each function on the path, and whom it called.
    void learn_calls(size_t process, const model::SampleSite& site) {
        const std::vector<model::PathNode>& nodes = paths_.run().processes[process].paths;
        uint32_t callee = site.path;
        for (size_t depth = 0; callee != 0 && depth < model::kMostFrames; depth++) {
            const uint32_t caller = nodes[callee].parent;
            if (caller == 0 || caller >= nodes.size())
                return;
            const bool allocation = !nodes[callee].kernel && is_part_of_allocation(process, callee);
            const bool outermost = allocation && !is_part_of_allocation(process, caller);
            if (outermost && frees(function_of(process, callee).name)) {
                Calls& calls = functions_[function_of(process, caller)];
                calls.to_free = true;
                calls.freeing_samples += site.samples - std::min(site.kernel_samples, site.samples);
            }
            if (known_edges_[process][callee] && !allocation)
                return;
            known_edges_[process][callee] = true;
            if (!nodes[callee].kernel && (!allocation || (outermost && !frees(function_of(process, callee).name))))
                if (const Function from = function_of(process, caller); from != function_of(process, callee))
                    functions_[from].to_others = true;
            callee = caller;
        }
    }

    // The shim stands between the program and the allocator.
    bool is_part_of_allocation(size_t process, uint32_t node) {
        return allocator_.contains(process, node) || model::is_shim_module(paths_.frames_of(process, node).front().module);
    }

    Function function_of(size_t process, uint32_t node) {
        const model::SourceFrame& frame = paths_.frames_of(process, node).back();
        return {frame.module, frame.function.substr(0, frame.function.find("+0x"))};
    }

    bool only_frees(size_t process, uint32_t node) {
        const auto found = functions_.find(function_of(process, node));
        return found != functions_.end() && found->second.to_free && !found->second.to_others;
    }

    bool is_call_line(size_t process, uint32_t node) {
        const model::SourceFrame& frame = paths_.frames_of(process, node).front();
        return frame.line != 0 && call_lines_.count(model::source_line(frame)) != 0;
    }

    // From the leaf outwards through code of the system's, up to the first of the user's: what a constructor of the user's own
    // does is the program's work. Only at lines that allocate or free: short strings need no memory.
    bool is_contents(size_t process, uint32_t node) {
        const std::vector<model::PathNode>& nodes = paths_.run().processes[process].paths;
        bool found = false;
        for (uint32_t at = node; at != 0 && at < nodes.size() && !found; at = nodes[at].parent) {
            bool users = false;
            for (const model::SourceFrame& frame : paths_.frames_of(process, at)) {
                users = !frame.file.empty() && !model::is_system_source(frame.file) && !model::is_system_module(frame.module);
                if (users)
                    break;
                found = found || is_object_lifetime_function(frame.function);
            }
            if (users || (frame_is_programs(process, at) && !found))
                break;
        }
        return found && user_lines_.count(model::source_line(paths_.user_frame(process, node))) != 0;
    }

    // Code of the program without lines: its owner is not known.
    bool frame_is_programs(size_t process, uint32_t node) {
        const model::Module* module = paths_.module_of(process, paths_.run().processes[process].paths[node].address);
        return module && module->kind == model::Module::Kind::program && paths_.frames_of(process, node).back().file.empty();
    }

    model::CallPaths& paths_;
    AllocatorCode allocator_;
    std::set<model::SourceLine> call_lines_; // innermost frames that call the allocator
    std::set<model::SourceLine> user_lines_; // the user's lines that led there
    std::map<Function, Calls> functions_;
    std::vector<std::vector<bool>> known_edges_; // [process][node]: from its caller to it
};

} // namespace

bool is_object_lifetime_function(const std::string& function) {
    const std::string plain = without_types(function);
    if (!plain.starts_with("std::") && !plain.starts_with("__gnu_cxx::"))
        return false;
    const size_t scope = plain.rfind("::");
    const std::string_view name = std::string_view(plain).substr(scope + 2);
    const std::string_view outer = std::string_view(plain).substr(0, scope);
    const size_t outer_scope = outer.rfind("::");
    if (name.starts_with('~') || (outer_scope != outer.npos && outer.substr(outer_scope + 2) == name))
        return true; // constructors and destructors
    for (std::string_view part : {"construct", "_Construct", "uninitialized", "initialize", "_M_create", "_M_get_node", "relocate",
                                  "_M_realloc", "_Destroy", "destroy", "destruct", "_M_dispose", "_M_drop_node", "_M_put_node"})
        if (name.find(part) != name.npos)
            return true;
    return name == "_M_erase";
}

AllocationParts allocation_parts_of(model::CallPaths& paths) { return Classifier(paths).parts(); }

} // namespace plumb
