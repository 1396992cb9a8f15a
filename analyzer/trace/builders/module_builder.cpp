#include "trace/builders/module_builder.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb::trace {

namespace {

model::Module::Kind kind_of(uint32_t flags) {
    using Kind = model::Module::Kind;
    if (flags & kModuleMain)
        return Kind::program;
    if (flags & kModuleVdso)
        return Kind::vdso;
    if (flags & kModuleKernel)
        return Kind::kernel;
    return flags & kModuleAnonymous ? Kind::anonymous : Kind::library;
}

} // namespace

void ModuleBuilder::take(const ModuleLoad& record, uint64_t time_ns, const std::string& path) {
    std::string build_id;
    for (size_t i = 0; i < std::min<size_t>(record.build_id_size, sizeof record.build_id); ++i)
        build_id += fmt::format("{:02x}", record.build_id[i]);
    if (const auto known = latest_at_.find(record.start); known != latest_at_.end()) {
        model::Module& module = process_.modules[known->second];
        if (module.path == path && module.file_offset == record.file_offset && time_ns < module.unloaded_ns) {
            module.end = std::max(module.end, record.end);
            module.loaded_ns = std::min(module.loaded_ns, time_ns);
            module.deleted |= (record.flags & kModuleDeleted) != 0;
            if (module.build_id.empty())
                module.build_id = build_id;
            ids_[record.id] = known->second;
            return;
        }
    }
    const auto index = static_cast<uint32_t>(process_.modules.size());
    process_.modules.push_back({.kind = kind_of(record.flags),
                                .path = path,
                                .build_id = build_id,
                                .start = record.start,
                                .end = record.end,
                                .file_offset = record.file_offset,
                                .loaded_ns = time_ns,
                                .deleted = (record.flags & kModuleDeleted) != 0});
    latest_at_[record.start] = index;
    ids_[record.id] = index;
}

void ModuleBuilder::take(const ModuleUnload& record, uint64_t time_ns) {
    const auto found = ids_.find(record.id);
    if (found != ids_.end() && record.time_ns != 0)
        process_.modules[found->second].unloaded_ns = time_ns;
}

void ModuleBuilder::inherit(const model::Process& parent, Allowance& allowance) {
    const uint64_t begin = process_.start_ns;
    for (const model::Module& module : parent.modules) {
        if (!allowance.take(sizeof module + module.path.size() + module.build_id.size()))
            return;
        if (module.loaded_ns > begin || module.unloaded_ns < begin)
            continue;
        process_.modules.push_back(module);
    }
}

} // namespace plumb::trace
