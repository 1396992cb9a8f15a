#include "platform/redaction.h"

#include "platform/read_file.h"

#include <plumb/redaction.h>

namespace plumb::platform {

std::string host_alias() {
    const std::string id = read_file("/proc/sys/kernel/random/boot_id").value_or("");
    char alias[redaction::kAliasBytes];
    redaction::alias_of_host(id.data(), id.size(), alias);
    return alias;
}

std::string job_alias(std::string_view name) {
    char alias[redaction::kAliasBytes];
    redaction::alias_of_job(name.data(), name.size(), alias);
    return alias;
}

std::string without_folders(std::string text) {
    text.resize(redaction::shorten_paths(text.data(), text.size()));
    return text;
}

std::string file_name_of(const std::string& path) {
    if (redaction::is_common_path(path.data(), path.size()))
        return path;
    const size_t end = path.find_last_not_of('/');
    if (end == std::string::npos)
        return path;
    return path.substr(0, end + 1).substr(path.rfind('/', end) + 1);
}

std::vector<std::string> without_arguments(const std::vector<std::string>& command) {
    std::vector<std::string> kept;
    if (!command.empty())
        kept.push_back(file_name_of(command.front()));
    if (command.size() > 1)
        kept.emplace_back("...");
    return kept;
}

std::string without_infos(std::string xml) {
    constexpr std::string_view kBegin = "<info ", kEnd = "/>";
    std::string kept;
    size_t at = 0;
    for (size_t begin = 0; (begin = xml.find(kBegin, at)) != std::string::npos;) {
        kept.append(xml, at, begin - at);
        const size_t end = xml.find(kEnd, begin); // hwloc escapes '>' in values
        if (end == std::string::npos)
            return kept;
        at = end + kEnd.size();
    }
    return kept.append(xml, at, std::string::npos);
}

} // namespace plumb::platform
