#include "app/emulation.hpp"

#include <charconv>
#include <optional>

#include "routing/api_releases.hpp"

namespace backplane {
namespace {

constexpr std::string_view kKube = "kube";

std::string_view without_spaces(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n";
  const auto first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

// The numbers at the front, "1.35.2" of "v1.35.2-alpha"; what follows them is ignored.
std::string_view numbers_of(std::string_view text) {
  text = without_spaces(text);
  if (text.starts_with('v')) text.remove_prefix(1);
  std::size_t end = 0;
  const auto digit = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
  while (digit(end) || (end > 0 && end < text.size() && text[end] == '.' && digit(end + 1))) ++end;
  return text.substr(0, end);
}

// Removes the leading number and the dot after it from `numbers`, and returns the number.
std::optional<int> taken_number(std::string_view& numbers) {
  int out = 0;
  const auto [end, error] = std::from_chars(numbers.data(), numbers.data() + numbers.size(), out);
  if (error != std::errc()) return std::nullopt;
  numbers.remove_prefix(static_cast<std::size_t>(end - numbers.data()));
  if (numbers.starts_with('.')) numbers.remove_prefix(1);
  return out;
}

Result<ApiRelease> release_in(std::string_view text) {
  std::string_view numbers = numbers_of(text);
  if (numbers.empty()) return bad_request("could not parse " + backplane::quoted(text) + " as version");
  const std::string_view shown = numbers;
  const auto major = taken_number(numbers), minor = taken_number(numbers);
  if (!major || !minor) return bad_request("illegal version string " + backplane::quoted(text));
  if (const auto patch = taken_number(numbers); patch && *patch != 0) {
    return bad_request("patch version not allowed, got: " + std::string(kKube) + "=" + std::string(shown));
  }
  return ApiRelease{*major, *minor};
}

// Reads the release of the component "kube" from a flag that is a list of [COMPONENT=]RELEASE; nullopt if the list has none.
Result<std::optional<ApiRelease>> release_of_flag(const FlagSet& flags, std::string_view flag) {
  std::optional<ApiRelease> out;
  const std::string kube(kKube);
  std::optional<std::string> unknown;
  for (const auto& item : flags.values(flag)) {
    const auto equals = item.find('=');
    const bool named = equals != std::string::npos;
    const std::string component(named ? without_spaces(std::string_view(item).substr(0, equals)) : kKube);
    auto release = release_in(named ? std::string_view(item).substr(equals + 1) : item);
    if (!release.ok()) return std::move(release).status();
    if (component != kKube) {
      unknown = component;
    } else if (out) {
      return bad_request("duplicate version flag, " + kube + "=" + out->to_string() + " and " + kube + "=" + release->to_string());
    } else {
      out = *release;
    }
  }
  if (unknown) return bad_request("component not registered: " + *unknown);
  return out;
}

void check_range(std::string_view what, const ApiRelease& release, const ApiRelease& latest, std::string_view shown, Problems& problems) {
  if (kOldestEmulated <= release && release <= latest) return;
  problems.push_back(std::string(what) + " version " + release.to_string() + " is not between [" + kOldestEmulated.to_string() + ", " +
                     std::string(shown) + "]");
}

}  // namespace

Result<Emulation> read_emulation(const FlagSet& flags) {
  Emulation out;
  const auto emulated = release_of_flag(flags, "emulated-version");
  if (!emulated.ok()) return emulated.status();
  const auto oldest = release_of_flag(flags, "min-compatibility-version");
  if (!oldest.ok()) return oldest.status();
  const ApiRelease release = emulated->value_or(kApiRelease);
  const ApiRelease before = std::max(ApiRelease{release.major, release.minor - 1}, kOldestEmulated);
  out.version = {release, oldest->value_or(before)};
  out.apis.release = release;
  out.apis.forward_compatible = flags.text("emulation-forward-compatible") == "true";
  out.apis.runtime_config_forward_compatible = flags.text("runtime-config-emulation-forward-compatible") == "true";
  return out;
}

void check_emulation(const Emulation& emulation, Problems& problems) {
  const auto& [release, oldest] = emulation.version;
  check_range("emulation", release, kApiRelease, kApiRelease.to_string() + ".0", problems);
  check_range("minCompatibilityVersion", oldest, release, release.to_string(), problems);
  if (release != kApiRelease) return;
  const std::pair<std::string_view, bool> flags[] = {
      {"EmulationForwardCompatible", emulation.apis.forward_compatible},
      {"RuntimeConfigEmulationForwardCompatible", emulation.apis.runtime_config_forward_compatible}};
  for (const auto& [name, set] : flags) {
    if (!set) continue;
    problems.push_back("ServerRunOptions." + std::string(name) +
                       " cannot be set to true if the emulation version is the same as the binary version");
  }
}

}  // namespace backplane
