// backplane-bench-expressions FILE: the CPU nanoseconds of evaluating and of compiling each rule in FILE (bench/expressions.json).
// bench/expressions_go measures the same for cel-go.
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "backplane/types/cel.hpp"

namespace {

using namespace backplane;
// The CPU time of this thread; unlike elapsed time, it does not include that of other processes.
std::chrono::nanoseconds spent_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// The nanoseconds of one call: the average over half a second of calls.
template <class Call>
double nanoseconds(const Call& call) {
  const auto begin = spent_time();
  std::size_t calls = 0;
  std::chrono::nanoseconds spent{};
  do {
    for (int i = 0; i < 256; ++i, ++calls) call();
    spent = spent_time() - begin;
  } while (spent < std::chrono::milliseconds(500));
  return static_cast<double>(spent.count()) / static_cast<double>(calls);
}

void measure(const cel::Environment& environment, const std::string& rule, const Value& object) {
  const cel::Compiled compiled = environment.compile(rule);
  if (compiled.program == nullptr) throw std::runtime_error(compiled.problems);
  const cel::Binding binding{"self", &object};
  std::uint64_t cost = 0;
  const double run = nanoseconds([&] {
    cel::Budget budget;
    const cel::Outcome outcome = cel::run(*compiled.program, {&binding, 1}, budget);
    if (outcome.end != cel::Outcome::End::kValue || !outcome.value.as_bool()) throw std::runtime_error(rule + ": " + outcome.message);
    cost = outcome.cost;
  });
  std::printf("%10.0f %6llu  %s\n", run, static_cast<unsigned long long>(cost), rule.c_str());
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 2) throw std::runtime_error("the file of rules is wanted: bench/expressions.json");
  std::ifstream file(arguments[1], std::ios::binary);
  const Value document = json::parse(std::string(std::istreambuf_iterator<char>(file), {}));
  const Object& all = document.as_object();
  cel::EnvironmentOptions options;
  options.variables.push_back({"self", cel::declare(all.at("schema").as_object(), false)});
  const auto environment = cel::Environment::make(std::move(options));
  std::printf("  ns a run   cost  rule\n");
  for (const Value& rule : all.at("rules").as_array()) measure(*environment, std::string(rule.as_string()), all.at("object"));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
