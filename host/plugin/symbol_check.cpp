#include "plugin/symbol_check.hpp"

#include <cxxabi.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <set>
#include <sstream>

#include "base/child_process.hpp"

namespace backplane {
namespace {

constexpr std::size_t kMostSymbols = 20;

std::string demangled(const std::string& symbol) {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> text(::abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? std::string(text.get()) : symbol;
}

Finding load_failed(std::string message, std::string fix) {
  return {finding_code::kLoadFailed, Severity::kError, "load", {}, {}, std::move(message), std::move(fix)};
}

// Reads until the end of the file, and closes the descriptor.
std::string read_all(int descriptor) {
  std::string text;
  char buffer[4096];
  for (ssize_t size = 0; (size = ::read(descriptor, buffer, sizeof buffer)) > 0 || (size < 0 && errno == EINTR);) {
    if (size > 0) text.append(buffer, static_cast<std::size_t>(size));
  }
  ::close(descriptor);
  return text;
}

// The dynamic loader's output for this program with `file` loaded into it.
std::string trace(const std::string& file) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  SpawnOptions options;
  options.output = options.errors = ends[1];
  options.environment = {"LD_TRACE_LOADED_OBJECTS=1", "LD_WARN=yes", "LD_BIND_NOW=yes", "LD_PRELOAD=" + file};
  const pid_t child = spawn({own_program(), "--version"}, options);
  ::close(ends[1]);
  std::string text = read_all(ends[0]);
  if (child > 0) wait_for_exit(child);
  return text;
}

// What the lines of a trace report about one file.
class MissingParts {
 public:
  explicit MissingParts(std::string file) : file_(std::move(file)) {}

  void read(const std::string& trace) {
    std::istringstream lines(trace);
    for (std::string line; std::getline(lines, line);) read_line(line);
  }
  // The symbols of missing libraries are undefined too; the libraries alone are reported.
  void add_to(Findings& findings) const {
    for (const std::string& library : libraries_) {
      findings.push_back(load_failed("the library " + library + " is not found",
                                     "install it on the server's machine, or link its static archive into the plugin"));
    }
    for (const std::string& version : versions_) {
      findings.push_back(load_failed(version, "install that version of the library, or build the plugin on the server's system"));
    }
    if (!libraries_.empty() || !versions_.empty()) return;
    std::size_t added = 0;
    for (const std::string& symbol : symbols_) {
      if (added == kMostSymbols) {
        findings.back().message += "; " + std::to_string(symbols_.size() - added) + " more are undefined";
        return;
      }
      findings.push_back(undefined_symbol(symbol));
      ++added;
    }
  }

 private:
  void read_line(const std::string& line) {
    constexpr std::string_view kSymbol = "undefined symbol: ", kLibrary = " => not found", kVersion = ": version ";
    if (line.starts_with(kSymbol) && line.ends_with("(" + file_ + ")")) {
      const auto begin = kSymbol.size();
      symbols_.insert(line.substr(begin, line.find_first_of(", \t", begin) - begin));
    } else if (line.starts_with('\t') && line.ends_with(kLibrary)) {
      libraries_.insert(line.substr(1, line.size() - 1 - kLibrary.size()));
    } else if (line.find(kVersion) != std::string::npos && line.ends_with("(required by " + file_ + ")")) {
      const auto begin = line.find(": ") + 2;  // after the name of this program
      versions_.insert(line.substr(begin, line.rfind(" (required by ") - begin));
    }
  }

  const std::string file_;
  std::set<std::string> libraries_, versions_, symbols_;
};

}  // namespace

Finding undefined_symbol(const std::string& symbol) {
  return {finding_code::kUndefinedSymbol,
          Severity::kError,
          "symbol",
          {},
          demangled(symbol),
          "neither the host nor a library defines a symbol that the plugin needs",
          "link the library that defines it, or build the plugin with this host's SDK"};
}

void check_symbols(const std::string& path, Findings& findings) {
  // Through a descriptor that the child inherits, because the loader splits LD_PRELOAD at spaces and colons.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return;
  const std::string file = "/proc/self/fd/" + std::to_string(descriptor);
  MissingParts missing(file);
  missing.read(trace(file));
  ::close(descriptor);
  missing.add_to(findings);
}

}  // namespace backplane
