#include "app/plugin_fuzz.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>

#include "base/plain_message.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours kLongest{24};

// The last request of a finding in one line.
std::string line_of(const conformance::FuzzFinding& finding) {
  const auto& culprit = finding.requests.back();
  std::string answer = finding.answer.substr(0, 200);
  for (char& c : answer) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = ' ';
  }
  return culprit.method + " " + culprit.target + " (" + (culprit.type.empty() ? "no body" : culprit.type) + ", " +
         std::to_string(culprit.body.size()) + " bytes): " + finding.problem + ": " + answer;
}

}  // namespace

std::optional<std::chrono::milliseconds> fuzz_time(std::string_view text) {
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const long long factor = unit == "ms" ? 1 : unit == "s" ? 1000 : unit == "m" ? 60'000 : 0;
  if (error != std::errc() || factor == 0 || number <= 0 || number > std::chrono::milliseconds(kLongest).count() / factor)
    return std::nullopt;
  return std::chrono::milliseconds(number * factor);
}

int run_fuzz(const conformance::FuzzPlan& plan, const std::string& folder, std::ostream& out, std::ostream& err) {
  const auto report = conformance::fuzz(plan);
  if (!report.ok()) {
    err << "Error: " << plain_message(report.status()) << "\n";
    return 1;
  }
  std::error_code error;
  if (!report->findings.empty()) fs::create_directories(folder, error);
  std::size_t number = 0;
  for (const auto& finding : report->findings) {
    const std::string path = folder + "/" + std::to_string(++number) + ".json";
    std::ofstream file(path, std::ios::binary);
    out << "FOUND  " << line_of(finding) << "\n";
    if (file << conformance::write_finding(finding)) {
      out << "       " << path << "\n";
    } else {
      err << "Error: " << path << " cannot be written\n";
    }
  }
  out << report->requests << (plan.odd ? " altered bodies, " : " requests at once, ") << report->findings.size() << " findings\n";
  return report->findings.empty() ? 0 : 1;
}

int run_replay(const ClientConfig& server, const std::vector<std::string>& files, std::ostream& out, std::ostream& err) {
  auto api = conformance::Api::connect(server);
  int code = 0;
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    const auto finding = conformance::read_finding(text.str());
    if (!api.ok() || !finding.ok()) {
      err << "Error: " << path << ": " << plain_message(api.ok() ? finding.status() : api.status()) << "\n";
      return 1;
    }
    const std::string problem = conformance::replay(**api, *finding);
    out << (problem.empty() ? "gone   " : "FOUND  ") << path << (problem.empty() ? "" : ": " + problem) << "\n";
    if (!problem.empty()) code = 1;
  }
  return code;
}

}  // namespace backplane
