#include "app/profile_texts.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>

namespace backplane {
namespace {

using profiling::Stack;
using profiling::Symbol;
using profiling::Symbols;
using profiling::ThreadStack;

std::string hexadecimal(std::uintptr_t number) {
  char digits[2 + 2 * sizeof number + 1];
  std::snprintf(digits, sizeof digits, "%#zx", static_cast<std::size_t>(number));
  return digits;
}

// "name+0x12" and the file. For a caller, the symbol is that of the call, which precedes the return address.
struct FrameText {
  std::string name, file;
};
FrameText frame_text(Symbols& symbols, const Stack& stack, std::size_t index) {
  const Symbol symbol = symbols.find(index == 0 ? stack[index] : stack[index] - 1);
  FrameText out{symbol.name.empty() ? "?" : symbol.name, symbol.object == nullptr ? "?" : symbol.object->file};
  if (symbol.start != 0) out.name += "+" + hexadecimal(stack[index] - symbol.start);
  return out;
}

// " @ 0x1 0x2" and a line for each address.
std::string stack_lines(Symbols& symbols, const Stack& stack) {
  std::string out = " @";
  for (const std::uintptr_t address : stack) out += " " + hexadecimal(address);
  out += "\n";
  for (std::size_t i = 0; i < stack.size(); ++i) {
    const auto [name, file] = frame_text(symbols, stack, i);
    out += "#\t" + hexadecimal(stack[i]) + "\t" + name + "\t" + file + "\n";
  }
  return out + "\n";
}

std::string state_text(char state) {
  constexpr std::pair<char, const char*> kStates[] = {{'R', "running"}, {'S', "sleeping"}, {'D', "waiting for a device"}, {'t', "traced"}};
  for (const auto& [letter, text] : kStates) {
    if (letter == state) return text;
  }
  return {state};
}

std::string activity_lines(const std::vector<Activity>& activities, const char* mark) {
  std::string out;
  for (const Activity& activity : activities) {
    out += mark + std::to_string(activity.count) + " " + activity.kind + ": " + activity.name + "\n";
  }
  return out;
}

}  // namespace

std::string profile_index() {
  return "/debug/pprof/\n\n"
         "allocs, heap  bytes of malloc's arenas\n"
         "block, mutex  waits for locks by stack, with --contention-profiling (?debug=1: as text)\n"
         "cmdline       the command line, its words separated by NUL; on the debug socket alone\n"
         "goroutine     stacks of all threads; requests and tasks in progress by number (?debug=1 or 2: as text)\n"
         "profile       processor time by stack, over ?seconds=\n"
         "symbol        names of functions by address\n"
         "threadcreate  threads by name\n"
         "threads       threads and the processor time of each, as text\n";
}

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

std::string thread_lines(const std::vector<ThreadStack>& threads) {
  std::string out;
  for (const ThreadStack& thread : threads) {
    out += std::to_string(thread.id) + " " + thread.name + " " + std::to_string(thread.processor_time.count()) + "ms\n";
  }
  return out;
}

std::string stacks_by_count(const std::vector<ThreadStack>& threads, const std::vector<Activity>& activities) {
  std::map<Stack, std::size_t> counts;
  for (const ThreadStack& thread : threads) ++counts[thread.stack];
  std::string out = "goroutine profile: total " + std::to_string(threads.size()) + "\n";
  Symbols symbols;
  for (const auto& [stack, count] : counts) {
    out += std::to_string(count) + stack_lines(symbols, stack);
  }
  return out + activity_lines(activities, "# ");
}

std::string waits_by_stack(const std::map<Stack, profiling::LockWaits>& waits) {
  using Row = std::pair<const Stack, profiling::LockWaits>;
  std::vector<const Row*> rows;
  rows.reserve(waits.size());
  for (const Row& row : waits) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [](const Row* one, const Row* other) { return one->second.total > other->second.total; });
  std::string out = "--- contention:\ncycles/second=1000000000\n";
  Symbols symbols;
  for (const Row* row : rows) {
    out += std::to_string(row->second.total.count()) + " " + std::to_string(row->second.count) + stack_lines(symbols, row->first);
  }
  return out;
}

std::string stacks_by_thread(const std::vector<ThreadStack>& threads, const std::vector<Activity>& activities) {
  std::string out;
  Symbols symbols;
  for (const ThreadStack& thread : threads) {
    out += "thread " + std::to_string(thread.id) + " " + thread.name + " [" + state_text(thread.state) + "]:\n";
    for (std::size_t i = 0; i < thread.stack.size(); ++i) {
      const auto [name, file] = frame_text(symbols, thread.stack, i);
      out += name + "\n\t" + file + "\n";
    }
    out += "\n";
  }
  return out + activity_lines(activities, "");
}

std::string symbol_lines(std::string_view addresses) {
  Symbols symbols;
  std::string out = "num_symbols: 1\n";  // readers only ask whether it is 0
  while (!addresses.empty()) {
    const auto plus = addresses.find('+');
    std::string_view word = addresses.substr(0, plus);
    addresses.remove_prefix(plus == std::string_view::npos ? addresses.size() : plus + 1);
    if (word.starts_with("0x")) word.remove_prefix(2);
    std::uintptr_t address = 0;
    std::from_chars(word.data(), word.data() + word.size(), address, 16);
    const std::string name = symbols.find(address).name;
    if (!name.empty()) out += hexadecimal(address) + " " + name + "\n";
  }
  return out;
}

}  // namespace backplane
