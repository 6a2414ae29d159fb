#include "app/flag_files.hpp"

#include <openssl/pem.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

#include "backplane/net/openssl_ptr.hpp"
#include "backplane/types/schema.hpp"

namespace backplane {
namespace {

bool has_certificate(const std::string& text) {
  return X509Ptr(PEM_read_bio_X509(memory_bio(text).get(), nullptr, nullptr, nullptr)) != nullptr;
}

bool has_private_key(const std::string& text) {
  return KeyPtr(PEM_read_bio_PrivateKey(memory_bio(text).get(), nullptr, no_openssl_password, nullptr)) != nullptr;
}

bool has_public_key(const std::string& text) {
  return KeyPtr(PEM_read_bio_PUBKEY(memory_bio(text).get(), nullptr, nullptr, nullptr)) != nullptr;
}

bool has_verifying_key(const std::string& text) { return has_public_key(text) || has_private_key(text) || has_certificate(text); }

bool is_yaml_object(const std::string& text) {
  auto tree = parse_yaml(text, {}, nullptr);
  return tree.ok() && tree->is_object();
}

struct NamedFile {
  std::string_view flag;
  std::string_view what;  // "… does not contain a <what>"
  bool (*holds)(const std::string& text);
};

constexpr NamedFile kFiles[] = {
    {"client-ca-file", "PEM certificate", has_certificate},
    {"requestheader-client-ca-file", "PEM certificate", has_certificate},
    {"kubelet-certificate-authority", "PEM certificate", has_certificate},
    {"kubelet-client-certificate", "PEM certificate", has_certificate},
    {"kubelet-client-key", "PEM private key", has_private_key},
    {"peer-ca-file", "PEM certificate", has_certificate},
    {"proxy-client-cert-file", "PEM certificate", has_certificate},
    {"proxy-client-key-file", "PEM private key", has_private_key},
    {"service-account-key-file", "PEM key or certificate", has_verifying_key},
    {"service-account-signing-key-file", "PEM private key", has_private_key},
    {"tls-cert-file", "PEM certificate", has_certificate},
    {"tls-private-key-file", "PEM private key", has_private_key},
    {"allow-metric-labels-manifest", "YAML object", is_yaml_object},
};

// Returns the text of the file; or nullopt, with the error in `problem`, worded like Go's.
std::optional<std::string> read_text(const std::string& path, std::string& problem) {
  std::error_code is_directory_error;
  const bool directory = std::filesystem::is_directory(path, is_directory_error);
  errno = 0;
  std::ifstream file;
  if (!directory) file.open(path, std::ios::binary);
  std::string text;
  if (file.is_open()) text.assign(std::istreambuf_iterator<char>(file), {});
  if (file.is_open() && file) return text;
  std::string reason = std::strerror(errno != 0 ? errno : EISDIR);
  if (!reason.empty() && reason[0] >= 'A' && reason[0] <= 'Z') reason[0] = static_cast<char>(reason[0] - 'A' + 'a');
  problem = "cannot open " + path + ": " + reason;
  return std::nullopt;
}

// Reports a problem if none of the directories exists, because a server without plugins serves no API and looks healthy. The search for
// plugins reports single directories that do not exist.
void check_plugin_directories(const FlagSet& flags, Problems& problems) {
  if (!flags.changed("plugin-dir")) return;
  Problems found;
  for (const auto& path : flags.values("plugin-dir")) {
    std::error_code error;
    const auto file = std::filesystem::status(path, error);
    if (file.type() == std::filesystem::file_type::directory) return;
    found.push_back("--plugin-dir: cannot open " + path +
                    (std::filesystem::exists(file) ? ": not a directory" : ": no such file or directory"));
  }
  problems.insert(problems.end(), found.begin(), found.end());
}

}  // namespace

void check_flag_files(const Options& options, Problems& problems) {
  for (const NamedFile& file : kFiles) {
    for (const auto& path : options.flags.values(file.flag)) {
      std::string problem;
      const auto text = read_text(path, problem);
      if (text && !file.holds(*text)) problem = path + " does not contain a " + std::string(file.what);
      if (!problem.empty()) problems.push_back("--" + std::string(file.flag) + ": " + problem);
    }
  }
  check_plugin_directories(options.flags, problems);
}

}  // namespace backplane
