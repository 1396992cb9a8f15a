#include "trace/context/file_context.h"

#include "platform/cpu_list.h"

namespace plumb::trace {

namespace {

// A text is cheap up to this length: the record that names it costs as much.
constexpr size_t kFreeTextBytes = 64;

} // namespace

std::string FileContext::text(StringId id) const {
    const std::string_view text = strings.text(id);
    if (text.size() > kFreeTextBytes && !allowance_.take(text.size()))
        return std::string(text.substr(0, kFreeTextBytes));
    return std::string(text);
}

std::vector<std::string> FileContext::arguments(StringId id) const {
    std::vector<std::string> arguments;
    const std::string_view text = strings.text(id);
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\0', begin), text.size());
        if (!allowance_.take(sizeof(std::string) + end - begin))
            break;
        arguments.emplace_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return arguments;
}

model::CpuSet FileContext::cpus(StringId id) const {
    const std::string_view text = strings.text(id);
    if (text.empty())
        return {};
    if (id != last_cpus_.id)
        last_cpus_ = {id, platform::parse_cpu_list(text).value_or(model::CpuSet{})};
    if (!allowance_.take(last_cpus_.cpus.size() * sizeof(int)))
        return {};
    return last_cpus_.cpus;
}

} // namespace plumb::trace
