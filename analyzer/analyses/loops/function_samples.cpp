#include "analyses/loops/function_samples.h"

#include <algorithm>
#include <map>
#include <utility>

namespace plumb {

namespace {

struct Sampled {
    FunctionSamples::Hit hit;
    uint64_t offset = 0; // in the file: the same in all processes
};

using Function = std::pair<std::string, std::string>; // path of the file, name

bool is_of_interest(const model::Module& module) {
    return (module.kind == model::Module::Kind::program || module.kind == model::Module::Kind::library) &&
           !model::is_system_module(module.path) && !model::is_packaged_file(module.path);
}

std::string without_offset(const std::string& name) {
    const size_t offset = name.rfind("+0x");
    return offset == std::string::npos || name.find('.') < offset ? name : name.substr(0, offset); // "libx.so+0x12" is a name
}

std::map<Function, std::vector<Sampled>> by_function(model::CallPaths& paths) {
    std::map<Function, std::vector<Sampled>> functions;
    const std::vector<model::Process>& processes = paths.run().processes;
    for (size_t process = 0; process < processes.size(); ++process)
        for (const model::SampleSite& site : processes[process].samples) {
            const std::vector<model::PathNode>& nodes = processes[process].paths;
            if (site.path >= nodes.size() || nodes[site.path].kernel || !nodes[site.path].leaf || site.samples <= site.kernel_samples)
                continue;
            const uint64_t address = nodes[site.path].address;
            const model::Module* module = paths.module_of(process, address);
            if (!module || !is_of_interest(*module))
                continue;
            const std::string name = without_offset(paths.frames_of(process, site.path).back().function);
            const double user = static_cast<double>(site.samples - site.kernel_samples) / static_cast<double>(site.samples);
            functions[{module->path, name}].push_back(
                {{.address = address, .time_ns = user * static_cast<double>(site.time_ns), .samples = site.samples - site.kernel_samples,
                  .process = process, .path = site.path}, module->file_offset + (address - module->start)});
        }
    return functions;
}

double time_of(const std::vector<Sampled>& all) {
    double time_ns = 0;
    for (const Sampled& each : all)
        time_ns += each.hit.time_ns;
    return time_ns;
}

// Takes those out of `all` that lie in the code around the costliest of them.
FunctionSamples taken_out(model::CallPaths& paths, const Function& function, std::vector<Sampled>& all) {
    FunctionSamples made;
    const Sampled hottest = *std::ranges::max_element(all, {}, [](const Sampled& each) { return each.hit.time_ns; });
    made.process = hottest.hit.process;
    made.module = function.first;
    made.name = function.second;
    if (auto code = paths.function_code(made.process, hottest.hit.address))
        made.code = std::move(*code);
    std::erase_if(all, [&](const Sampled& each) {
        const uint64_t address = hottest.hit.address + (each.offset - hottest.offset);
        if (made.code.bytes.empty())
            return each.offset == hottest.offset;
        if (address - made.code.start >= made.code.bytes.size())
            return false;
        made.hits.push_back(each.hit);
        made.hits.back().address = address;
        made.time_ns += each.hit.time_ns;
        return true;
    });
    return made;
}

} // namespace

std::vector<FunctionSamples> function_samples_of(model::CallPaths& paths, double least_ns) {
    std::vector<FunctionSamples> found;
    for (auto& [function, all] : by_function(paths))
        // Of one name there may be several: static ones of different units.
        for (int pieces = 0; pieces < 8 && !all.empty() && time_of(all) >= least_ns; ++pieces)
            if (FunctionSamples made = taken_out(paths, function, all); made.time_ns >= least_ns)
                found.push_back(std::move(made));
    std::ranges::stable_sort(found, std::greater{}, &FunctionSamples::time_ns);
    return found;
}

} // namespace plumb
