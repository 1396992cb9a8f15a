#include "symbols/elf/names.h"

#include <algorithm>
#include <cctype>
#include <csetjmp>
#include <cstdlib>
#include <cxxabi.h>
// The C library declares basename(); libiberty's own declaration of it differs in a way that clang refuses.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>
#include <memory>

namespace plumb::symbols {

namespace {

bool is_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

std::string demangle_itanium(const std::string& symbol) {
    int status = 0;
    std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text ? std::string(text.get()) : std::string();
}

// Of a symbol in one of Rust's two schemes, without the hashes of crates; empty: it is none, or damaged.
std::string demangle_rust(const std::string& symbol) {
    // Back references let a symbol of 400 bytes stand for one of terabytes. The demangler has no limit of its own; nothing
    // but a jump ends it, and it owns nothing that a jump would lose but a name that it decodes.
    constexpr size_t kMostBytes = 64 << 10;
    struct Output {
        std::string text;
        std::jmp_buf too_long;
    } output;
    if (setjmp(output.too_long) != 0)
        return {};
    const bool is_rust = rust_demangle_callback(symbol.c_str(), DMGL_NO_OPTS, [](const char* part, size_t bytes, void* opaque) {
        Output& out = *static_cast<Output*>(opaque);
        if (out.text.size() + bytes > kMostBytes)
            std::longjmp(out.too_long, 1);
        out.text.append(part, bytes);
    }, &output);
    return is_rust ? std::move(output.text) : std::string();
}

// gfortran: __module_MOD_procedure. Names of users cannot begin with an underscore, and gfortran folds all to lower
// case, so "_MOD_" is unambiguous.
std::string fortran_module_name(std::string_view symbol) {
    if (!symbol.starts_with("__"))
        return {};
    const size_t mark = symbol.find("_MOD_");
    if (mark == std::string_view::npos || mark <= 2 || mark + 5 >= symbol.size())
        return {};
    return std::string(symbol.substr(2, mark - 2)) + "::" + std::string(symbol.substr(mark + 5));
}

// Where the part begins that the compiler appended to make one function out of another; npos: none.
size_t clone_suffix(std::string_view symbol) {
    for (const char* mark : {"._omp_fn.", ".constprop.", ".isra.", ".part.", ".cold", ".lto_priv.", ".llvm.",
                             ".localalias", ".omp_outlined.", ".resume", ".destroy", ".cleanup"}) {
        const size_t at = symbol.find(mark);
        if (at != std::string_view::npos && at > 0)
            return std::min(at, symbol.find('.', 1));
    }
    return std::string_view::npos;
}

std::string describe_clone(std::string_view suffix) {
    constexpr std::string_view kRegion = "._omp_fn.";
    std::string text;
    if (const size_t at = suffix.find(kRegion); at != std::string_view::npos) {
        size_t end = at + kRegion.size();
        while (end < suffix.size() && std::isdigit(static_cast<unsigned char>(suffix[end])))
            ++end;
        text = " [omp region " + std::string(suffix.substr(at + kRegion.size(), end - at - kRegion.size())) + "]";
        suffix = suffix.substr(end);
    }
    // Only made to keep names apart; nobody wrote or wants them.
    for (const char* noise : {".lto_priv.", ".llvm.", ".localalias"})
        if (suffix.starts_with(noise))
            return text;
    return suffix.empty() ? text : text + " [clone " + std::string(suffix) + "]";
}

std::string demangle(std::string_view symbol) {
    const std::string text(symbol);
    if (std::string name = demangle_rust(text); !name.empty())
        return name;
    if (symbol.starts_with("_Z") || symbol.starts_with("___Z"))
        if (std::string name = demangle_itanium(text); !name.empty())
            return without_signature(name);
    if (std::string name = fortran_module_name(symbol); !name.empty())
        return name;
    return text;
}

// Length of the operator's symbol after the word "operator"; 0: a conversion or new/delete.
size_t operator_length(std::string_view rest) {
    for (const char* symbol : {"<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "==", "!=", "&&",
                               "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "->", "<", ">",
                               "+", "-", "*", "/", "%", "^", "&", "|", "~", "!", "=", ","})
        if (rest.starts_with(symbol))
            return std::string_view(symbol).size();
    return 0;
}

// Index behind the bracket that closes the one at `open`; npos: never closed.
size_t behind_bracket(std::string_view text, size_t open) {
    int depth = 0;
    for (size_t i = open; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '(' || c == '[' || c == '{')
            ++depth;
        else if (c == ')' || c == ']' || c == '}') {
            if (--depth == 0)
                return i + 1;
        }
    }
    return std::string_view::npos;
}

bool is_fortran_identifier(std::string_view name) {
    return !name.empty() && name.front() >= 'a' && name.front() <= 'z' &&
           std::all_of(name.begin(), name.end(), [](unsigned char c) {
               return (c >= 'a' && c <= 'z') || std::isdigit(c) || c == '_';
           });
}

} // namespace

std::string tidy_name(std::string name) {
    replace_all(name, "[abi:cxx11]", "");
    replace_all(name, "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
                "std::string");
    replace_all(name, "std::__cxx11::", "std::");
    replace_all(name, " >", ">");
    return name;
}

std::string without_signature(std::string_view text) {
    std::string name;         // what is kept so far
    size_t begin = 0;         // in `name`: behind the last blank that may end a return type
    bool in_operator = false; // behind "operator": blanks belong to the name
    int angle = 0;
    for (size_t i = 0; i < text.size();) {
        const char c = text[i];
        const bool word_start = i == 0 || !is_identifier(text[i - 1]);
        if (angle == 0 && word_start && text.substr(i).starts_with("operator") &&
            (i + 8 == text.size() || !is_identifier(text[i + 8]))) {
            const size_t length = operator_length(text.substr(i + 8));
            name += text.substr(i, 8 + length);
            i += 8 + length;
            in_operator = true;
            continue;
        }
        if (c == '<') {
            ++angle;
        } else if (c == '>' && angle > 0 && text[i - 1] != '-') {
            --angle;
        } else if (c == '(' || c == '{' || c == '[') {
            const size_t end = behind_bracket(text, i);
            if (end == std::string_view::npos)
                return std::string(text);
            const bool parameters =
                c == '(' && angle == 0 && !text.substr(i).starts_with("(anonymous namespace)");
            if (!parameters) {
                name += text.substr(i, end - i);
                i = end;
                continue;
            }
            if (i == 0 || text[i - 1] == ' ')
                if (!in_operator && !name.ends_with("decltype "))
                    return std::string(text); // a function that returns a pointer to a function
            i = end;
            if (name.ends_with("decltype") || name.ends_with("decltype "))
                continue; // part of a return type; the blank behind it drops all of it
            size_t next = i; // " const", " volatile", " &", "[abi:cxx11]" may stand between it and "::"
            while (next < text.size() && text[next] != ':' && text[next] != '(')
                ++next;
            if (text.substr(next).starts_with("::")) {
                i = next; // a function as the scope of what is local to it
                in_operator = false;
                continue;
            }
            break;
        } else if (c == ' ' && angle == 0 && !in_operator) {
            begin = name.size() + 1;
        } else if (c == ':' && angle == 0) {
            in_operator = false;
        }
        name += c;
        ++i;
    }
    name.erase(0, std::min(begin, name.size()));
    if (name.empty())
        return std::string(text);
    return tidy_name(std::move(name));
}

std::string omp_region_of(std::string_view symbol) {
    if (symbol.starts_with(".omp_outlined."))
        return " [omp region]";
    const size_t at = symbol.find("._omp_fn.");
    return at == symbol.npos ? std::string() : describe_clone(symbol.substr(at));
}

std::string readable_fortran_name(std::string_view symbol) {
    const size_t dot = symbol.find('.');
    const std::string_view base = symbol.substr(0, dot);
    if (dot == symbol.npos && base.ends_with('_') && is_fortran_identifier(base))
        return std::string(base.substr(0, base.size() - (base.ends_with("__") ? 2 : 1)));
    if (dot != symbol.npos && is_fortran_identifier(base) && dot + 1 < symbol.size() &&
        std::all_of(symbol.begin() + static_cast<ptrdiff_t>(dot) + 1, symbol.end(),
                    [](unsigned char c) { return std::isdigit(c); }))
        return std::string(base);
    return readable_name(symbol);
}

std::string readable_name(std::string_view symbol) {
    if (const size_t version = symbol.find('@'); version != std::string_view::npos && version > 0)
        symbol = symbol.substr(0, version); // memcpy@@GLIBC_2.14
    const size_t suffix = clone_suffix(symbol);
    if (suffix == std::string_view::npos || suffix == 0)
        return symbol.starts_with(".omp_outlined.") ? "[omp region]" : demangle(symbol);
    return demangle(symbol.substr(0, suffix)) + describe_clone(symbol.substr(suffix));
}

} // namespace plumb::symbols
