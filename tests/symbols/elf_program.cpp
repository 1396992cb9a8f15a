#include "elf_program.h"

#include <cstdio>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace plumb_test {

namespace {

std::string read_whole(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    if (!file)
        throw std::runtime_error("cannot read " + path);
    return text.str();
}

} // namespace

std::string output_of(const std::string& command) {
    FILE* pipe = popen(command.c_str(), "r");
    if (!pipe)
        throw std::runtime_error("cannot run " + command);
    std::string text;
    char buffer[4096];
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
        text.append(buffer, got);
    if (pclose(pipe) != 0)
        throw std::runtime_error("failed: " + command);
    return text;
}

MappedProgram::MappedProgram(const std::string& file) : path(file) {
    const std::string data = read_whole(file);
    const auto* header = reinterpret_cast<const Elf64_Ehdr*>(data.data());
    const auto* segments = reinterpret_cast<const Elf64_Phdr*>(data.data() + header->e_phoff);
    const auto* sections = reinterpret_cast<const Elf64_Shdr*>(data.data() + header->e_shoff);
    const char* names = data.data() + sections[header->e_shstrndx].sh_offset;
    uint64_t bytes = 0;
    for (int i = 0; i < header->e_phnum; ++i)
        if (segments[i].p_type == PT_LOAD && (segments[i].p_flags & PF_X)) {
            code_address_ = segments[i].p_vaddr;
            code_offset_ = segments[i].p_offset;
            bytes = segments[i].p_filesz;
        }
    for (int i = 0; i < header->e_shnum; ++i) {
        const std::string name = names + sections[i].sh_name;
        if (name == ".text") {
            text_begin = sections[i].sh_addr;
            text_end = text_begin + sections[i].sh_size;
        }
        if (name == ".note.gnu.build-id") {
            const auto* id = reinterpret_cast<const unsigned char*>(data.data() + sections[i].sh_offset + 16);
            for (uint64_t byte = 0; byte < sections[i].sh_size - 16; ++byte) {
                char digits[3];
                std::snprintf(digits, sizeof digits, "%02x", id[byte]);
                module.build_id += digits;
            }
        }
    }
    module.kind = plumb::model::Module::Kind::program;
    module.path = file;
    module.file_offset = code_offset_ & ~uint64_t{4095};
    module.start = header->e_type == ET_EXEC ? code_address_ & ~uint64_t{4095} : 0x7f1234567000;
    module.end = module.start + ((code_offset_ - module.file_offset + bytes + 4095) & ~uint64_t{4095});
}

uint64_t MappedProgram::runtime_address(uint64_t file_address) const {
    return module.start + (code_offset_ - module.file_offset) + (file_address - code_address_);
}

std::map<uint64_t, std::vector<TruthFrame>> ask_addr2line(const std::string& path, uint64_t begin, uint64_t end) {
    const std::string list = path + ".addresses";
    {
        std::ofstream addresses(list);
        for (uint64_t address = begin; address < end; ++address)
            addresses << std::hex << address << '\n';
    }
    std::istringstream lines(output_of("addr2line -a -f -i -C -e '" + path + "' < '" + list + "'"));
    std::filesystem::remove(list);
    std::map<uint64_t, std::vector<TruthFrame>> truth;
    std::vector<TruthFrame>* frames = nullptr;
    for (std::string line; std::getline(lines, line);) {
        if (line.size() == 18 && line.starts_with("0x")) {
            frames = &truth[std::stoull(line, nullptr, 16)];
            continue;
        }
        TruthFrame frame;
        frame.function = line;
        std::getline(lines, line);
        line = line.substr(0, line.find(" (discriminator"));
        const size_t colon = line.rfind(':');
        frame.file = std::filesystem::path(line.substr(0, colon)).lexically_normal().string();
        frame.line = static_cast<uint32_t>(std::strtoul(line.c_str() + colon + 1, nullptr, 10));
        frames->push_back(frame);
    }
    return truth;
}

} // namespace plumb_test
