#include "kernel_log/places.h"

#include "support/error.h"
#include "symbols/elf/elf_image.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb::kernel_log {

namespace {

constexpr size_t kNameOfThread = 15; // characters that the kernel keeps
constexpr uint64_t kPage = 4096;

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_of(const Message& message, const std::string& name) {
    return message.module.empty() ? message.program == name.substr(0, kNameOfThread) : message.module == name;
}

// A thread's number is that of the process, or of another of its threads.
bool has_thread(const model::Process& process, const std::set<int>& ids) {
    return ids.contains(static_cast<int>(process.pid)) ||
           std::ranges::any_of(process.threads, [&](const model::Thread& thread) { return ids.contains(static_cast<int>(thread.tid)); });
}

} // namespace

Places::Places(const model::Run* run, const std::vector<std::string>& binaries, model::SourceResolver& resolver)
    : run_(run), resolver_(resolver) {
    for (const std::string& path : binaries) {
        std::string why;
        const auto image = symbols::ElfImage::open(path, &why);
        if (!image)
            throw Error(fmt::format("{}: {}", path, why));
        Binary binary{.path = path, .name = name_of(path)};
        for (const symbols::Segment& segment : image->segments()) {
            if (&segment == &image->segments().front())
                binary.is_movable = segment.address < kPage;
            if (segment.executable && binary.code_bytes == 0) {
                binary.code_address = segment.address;
                binary.code_file_offset = segment.file_offset;
                binary.code_bytes = segment.memory_bytes;
            }
        }
        binaries_.push_back(std::move(binary));
    }
}

std::optional<Place> Places::in_run(const Group& group) {
    if (!run_)
        return std::nullopt;
    const Message& message = group.first;
    for (const model::Process& process : run_->processes) {
        const bool is_its = has_thread(process, group.pids);
        for (const model::Module& module : process.modules) {
            if (is_its && message.instruction >= module.start && message.instruction < module.end)
                return Place{module.path, resolver_.resolve(module, message.instruction), {}};
            // Another run of the same program: the place in the file is the same.
            const uint64_t bytes = module.end - module.start;
            if (message.file_offset && name_of(module.path) == message.module && *message.file_offset - module.file_offset < bytes)
                return Place{module.path, resolver_.resolve(module, module.start + *message.file_offset - module.file_offset), {}};
        }
    }
    return std::nullopt;
}

std::optional<Place> Places::in_binaries(const Group& group) {
    const Message& message = group.first;
    for (const Binary& binary : binaries_) {
        if (!is_of(message, binary.name))
            continue;
        const uint64_t from = binary.code_file_offset / kPage * kPage; // of the mapping, in the file
        model::Module module;
        module.path = binary.path;
        module.file_offset = from;
        uint64_t address = message.instruction;
        if (message.file_offset) {
            module.start = kPage;
            address = module.start + *message.file_offset - from;
        } else if (message.module_start != 0) {
            module.start = message.module_start;
        } else if (!binary.is_movable) {
            module.start = binary.code_address - (binary.code_file_offset - from);
        } else {
            return Place{binary.path, {}, "it is loaded at another address in each run, which the log does not have; a recorded run has it"};
        }
        module.end = module.start + binary.code_bytes + binary.code_file_offset - from;
        if (address < module.start || address >= module.end)
            return Place{binary.path, {}, fmt::format("its code does not reach to {:#x}", message.instruction)};
        return Place{binary.path, resolver_.resolve(module, address), {}};
    }
    return std::nullopt;
}

Place Places::of(const Group& group) {
    const Message& message = group.first;
    if (message.program == "kernel")
        return {"", {}, message.detail.empty() ? "the kernel's own code" : message.detail};
    if (message.instruction == 0)
        return {};
    if (auto place = in_run(group))
        return *place;
    if (auto place = in_binaries(group))
        return *place;
    const std::string of = message.module.empty() ? message.program : message.module;
    return {"", {}, fmt::format("at {:#x}; {} was not named, and is in no recorded process with this number", message.instruction, of)};
}

} // namespace plumb::kernel_log
