#include "reports/output.h"

#include "support/error.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

namespace plumb {

namespace {

// Into a file beside it first: a report is replaced whole or not at all. What is no regular file (a device, a
// pipe) is written as it is.
void write_file(const WriteReport& write, const std::string& output) {
    const std::string part = fmt::format("{}.part-{}", output, getpid());
    const bool special = access(output.c_str(), F_OK) == 0 && output.starts_with("/dev/");
    const std::string& target = special ? output : part;
    std::FILE* file = std::fopen(target.c_str(), "we");
    if (!file)
        throw Error(fmt::format("cannot write the report to {}: {}", output, std::strerror(errno)));
    try {
        write(file, output);
    } catch (...) {
        std::fclose(file);
        if (!special)
            std::remove(part.c_str());
        throw;
    }
    std::fclose(file);
    if (!special && std::rename(part.c_str(), output.c_str()) != 0) {
        const int error = errno;
        std::remove(part.c_str());
        throw Error(fmt::format("cannot write the report to {}: {}", output, std::strerror(error)));
    }
}

} // namespace

void write_all(const std::string& text, std::FILE* stream, const std::string& name) {
    if (std::fwrite(text.data(), 1, text.size(), stream) != text.size() || std::fflush(stream) != 0)
        throw Error(fmt::format("cannot write the report to {}: {}", name, std::strerror(errno)));
}

void write_where_asked(const WriteReport& write, const std::string& output, std::FILE* stream) {
    if (output.empty())
        write(stream, "the terminal");
    else
        write_file(write, output);
}

} // namespace plumb
