#include "repeat/preparation.h"

#include "repeat/process.h"

#include <fmt/format.h>
#include <fstream>
#include <iterator>

namespace plumb::repeat {

namespace {
constexpr size_t kMostBytes = 2000; // shown of an output
}

std::string prepare_run(const std::string& line, const std::vector<std::string>& environment, const std::string& output) {
    if (line.empty())
        return "";
    const std::string errors = output + ".err";
    const int status = run_process({{"/bin/sh", "-c", line}, "", environment, output + ".out", errors}).exit_status;
    if (status == 0 || caught_signal())
        return "";
    return fmt::format("the preparation \"{}\" ended with status {}. It wrote: {}", line, status, end_of_file(errors));
}

std::string end_of_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return text.size() > kMostBytes ? text.substr(text.size() - kMostBytes) : text;
}

} // namespace plumb::repeat
