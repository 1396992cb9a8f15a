// The rules of plumb/redaction.h for C++ strings: what --redact puts in the place of names and folders.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plumb::platform {

// Of this machine: the same for all who ask until it starts anew, without a trace of its name.
std::string host_alias();

// Of a launcher's name for its job.
std::string job_alias(std::string_view name);

// `text` with the file names alone of the absolute paths in it.
std::string without_folders(std::string text);

// The last component of a path, relative ones included; one below a common folder stays whole.
std::string file_name_of(const std::string& path);

// The program alone; "..." stands for what followed it.
std::vector<std::string> without_arguments(const std::vector<std::string>& command);

// The hwloc document without its <info> elements: names of the host, serial numbers and versions of its parts.
std::string without_infos(std::string xml);

} // namespace plumb::platform
