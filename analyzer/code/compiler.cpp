#include "code/compiler.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace plumb::code {

namespace {

int number_at(std::string_view text) {
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const size_t space = text.find(' ');
        if (const std::string_view word = text.substr(0, space); !word.empty())
            words.push_back(word);
        text.remove_prefix(space == text.npos ? text.size() : space + 1);
    }
    return words;
}

void set_level(std::string_view letters, Compiler& made) {
    made.level_name = "-O" + std::string(letters);
    made.reorders = letters == "fast";
    if (made.reorders)
        made.sets_errno = false;
    made.level = letters == "fast" ? 3 : letters.empty() || letters == "g" || letters == "s" || letters == "z" ? 1 : number_at(letters);
    made.level = std::min(made.level, 3);
    made.vectorizes_loops = made.level == 3 || (made.kind == Compiler::Kind::clang && (made.level == 2 || letters == "s"));
}

void set_processor(std::string_view name, Compiler& made) {
    made.names_processor = name != "x86-64";
    made.vector_bytes = name == "x86-64" || name == "x86-64-v2" ? 16 : 32;
    if (name == "x86-64-v4" || name.find("avx512") != name.npos)
        made.vector_bytes = 64;
}

void may_use(unsigned vector_bytes, Compiler& made) {
    made.vector_bytes = std::max(made.vector_bytes, vector_bytes);
    made.names_processor = true;
}

void add_option(std::string_view option, Compiler& made) {
    if (option == "-ffast-math")
        made.sets_errno = false;
    if (option.starts_with("-O"))
        set_level(option.substr(2), made);
    else if (option.starts_with("-march="))
        set_processor(option.substr(7), made);
    else if (option == "-ffast-math" || option == "-funsafe-math-optimizations" || option == "-fassociative-math")
        made.reorders = true;
    else if (option == "-fno-fast-math" || option == "-fno-associative-math" || option == "-fno-unsafe-math-optimizations")
        made.reorders = false;
    else if (option == "-fno-math-errno")
        made.sets_errno = false;
    else if (option == "-ftree-vectorize" || option == "-ftree-loop-vectorize" || option == "-fvectorize")
        made.vectorizes_loops = true;
    else if (option == "-fno-tree-vectorize" || option == "-fno-tree-loop-vectorize" || option == "-fno-vectorize")
        made.vectorizes_loops = false;
    else if (option == "-mavx" || option == "-mavx2")
        may_use(32, made);
    else if (option == "-mavx512f")
        may_use(64, made);
    else
        return;
    made.has_options = true;
}

} // namespace

std::string Compiler::name() const {
    const std::string known = kind == Kind::clang ? "clang" : kind == Kind::gcc ? language == Language::fortran ? "gfortran" : "gcc" : "";
    return known.empty() ? "the compiler" : version > 0 ? known + " " + std::to_string(version) : known;
}

// "GNU C17 12.2.0 -mtune=generic -march=x86-64 -g -O2", "Debian clang version 14.0.6"
Compiler compiler_of(std::string_view producer) {
    Compiler made;
    const std::vector<std::string_view> words = words_of(producer);
    if (words.empty())
        return made;
    if (words[0] == "GNU" && words.size() >= 3) {
        made.kind = Compiler::Kind::gcc;
        const std::string_view language = words[1];
        made.language = language.starts_with("Fortran") ? Compiler::Language::fortran
                        : language.starts_with("C++")   ? Compiler::Language::cpp
                        : language.starts_with("C")     ? Compiler::Language::c
                                                        : Compiler::Language::other;
        made.version = number_at(words[2]);
        made.sets_errno = made.language == Compiler::Language::c || made.language == Compiler::Language::cpp;
    } else if (const size_t at = producer.find("clang version "); at != producer.npos) {
        made.kind = Compiler::Kind::clang;
        made.version = number_at(producer.substr(at + 14));
    }
    made.is_other = made.kind == Compiler::Kind::unknown ||
                    (made.kind == Compiler::Kind::gcc && made.language == Compiler::Language::other);
    for (const std::string_view word : words)
        add_option(word, made);
    if (made.kind == Compiler::Kind::gcc && made.level < 0) { // it writes all options that it was given
        made.has_options = true;
        set_level("0", made);
    }
    return made;
}

} // namespace plumb::code
