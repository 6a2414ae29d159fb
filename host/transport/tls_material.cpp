#include "transport/tls_material.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace backplane {
namespace {

TlsMaterial::Group pair_of(std::string name, const KeyPairFiles& files) {
  return {std::move(name), {{files.certificate, {}}, {files.key, {}}}};
}

Result<std::string> read_pem(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file || !text) return internal_error("cannot open " + path + ": " + (errno != 0 ? std::strerror(errno) : "it cannot be read"));
  return std::move(text).str();
}

}  // namespace

TlsMaterial tls_files(const ServingOptions& options) {
  TlsMaterial material;
  material.groups.push_back(pair_of("serving certificate", options.certificate));
  for (const auto& pair : options.sni_certificates) {
    material.groups.push_back(pair_of("SNI certificate " + pair.files.certificate, pair.files));
    auto& files = material.groups.back().files;
    files.front().pem = pair.certificate_pem;
    files.back().pem = pair.key_pem;
  }
  TlsMaterial::Group authorities{"client certificate authorities", {}};
  if (!options.client_ca_file.empty()) authorities.files.push_back({options.client_ca_file, {}});
  for (const auto& file : options.more_client_ca_files) authorities.files.push_back({file, {}});
  material.groups.push_back(std::move(authorities));
  TlsMaterial::Group proxies{"front proxies' certificate authorities", {}};
  if (!options.proxy_ca_file.empty()) proxies.files.push_back({options.proxy_ca_file, {}});
  material.groups.push_back(std::move(proxies));
  return material;
}

Status read_group(TlsMaterial::Group& group) {
  auto files = group.files;
  for (auto& file : files) {
    if (file.path.empty()) continue;  // a pair in memory, or no configured file
    auto pem = read_pem(file.path);
    if (!pem.ok()) return std::move(pem.status());
    file.pem = std::move(*pem);
  }
  group.files = std::move(files);
  return {};
}

}  // namespace backplane
