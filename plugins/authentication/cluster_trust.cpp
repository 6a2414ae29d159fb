#include "cluster_trust.hpp"

#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <sstream>

#include "backplane/core/json_access.hpp"
#include "backplane/net/openssl_ptr.hpp"
#include "backplane/types/json_reading.hpp"
#include "flag_list.hpp"

namespace backplane::authentication {
namespace {

constexpr std::string_view kClientCa = "client-ca-file";
constexpr std::string_view kProxyCa = "requestheader-client-ca-file";
// Expired certificates are retained for this time, because the clocks of readers of the ConfigMap may be slow.
constexpr std::int64_t kSlackSeconds = 5 * 60;

// ConfigMap keys and flags have the same names.
struct ListRow {
  std::string_view key;
  std::vector<std::string> TrustInfo::*list;
  bool written_if_empty;
};
constexpr std::array<ListRow, 5> kLists = {{{"requestheader-username-headers", &TrustInfo::user_headers, true},
                                            {"requestheader-uid-headers", &TrustInfo::uid_headers, false},
                                            {"requestheader-group-headers", &TrustInfo::group_headers, true},
                                            {"requestheader-extra-headers-prefix", &TrustInfo::extra_prefixes, true},
                                            {"requestheader-allowed-names", &TrustInfo::allowed_names, true}}};

std::vector<X509Ptr> read_certificates(const std::string& pem) {
  std::vector<X509Ptr> out;
  const BioPtr bio = memory_bio(pem);
  while (X509* next = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) out.emplace_back(next);
  return out;
}

std::string to_pem(X509* certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), certificate);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, static_cast<std::size_t>(size));
}

Result<std::string> combined_certificates(const std::string& ours, const std::string& theirs, std::int64_t now_unix) {
  std::vector<X509Ptr> kept;
  time_t limit = static_cast<time_t>(now_unix - kSlackSeconds);
  for (const std::string* pem : {&theirs, &ours}) {
    std::vector<X509Ptr> found = read_certificates(*pem);
    if (found.empty() && !pem->empty()) return internal_error("data does not contain any valid RSA or ECDSA certificates");
    for (X509Ptr& certificate : found) {
      const bool expired = X509_cmp_time(X509_get0_notAfter(certificate.get()), &limit) <= 0;
      const auto same = [&](const X509Ptr& other) { return X509_cmp(other.get(), certificate.get()) == 0; };
      if (!expired && std::none_of(kept.begin(), kept.end(), same)) kept.push_back(std::move(certificate));
    }
  }
  std::string out;
  for (const X509Ptr& certificate : kept) out += to_pem(certificate.get());
  return out;
}

void add_missing(std::vector<std::string>& to, const std::vector<std::string>& from) {
  for (const std::string& text : from) {
    if (std::find(to.begin(), to.end(), text) == to.end()) to.push_back(text);
  }
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!(text << in.rdbuf())) return internal_error("cannot read " + path);
  return text.str();
}

}  // namespace

Result<TrustInfo> read_trust(const Object& data) {
  TrustInfo out;
  out.client_ca = get_string(data, kClientCa);
  out.proxy_ca = get_string(data, kProxyCa);
  for (const ListRow& row : kLists) {
    const std::string_view text = get_string(data, row.key);
    if (text.empty()) continue;
    const auto list = read_json(text);
    if (!list || !list->is_array()) return internal_error(std::string(row.key) + " is no list");
    for (const Value& item : list->get_array()) (out.*row.list).emplace_back(text_of(item));
  }
  return out;
}

Object trust_data(const TrustInfo& trust) {
  Object out;
  if (!trust.client_ca.empty()) out[kClientCa] = trust.client_ca;
  if (trust.proxy_ca.empty()) return out;
  out[kProxyCa] = trust.proxy_ca;
  for (const ListRow& row : kLists) {
    const std::vector<std::string>& list = trust.*row.list;
    if (!list.empty() || row.written_if_empty) out[row.key] = to_json(Array(list.begin(), list.end()));
  }
  return out;
}

Result<TrustInfo> combined(const TrustInfo& ours, const TrustInfo& theirs, std::int64_t now_unix) {
  TrustInfo out;
  for (const ListRow& row : kLists) {
    add_missing(out.*row.list, theirs.*row.list);
    add_missing(out.*row.list, ours.*row.list);
  }
  auto client_ca = combined_certificates(ours.client_ca, theirs.client_ca, now_unix);
  if (!client_ca.ok()) return std::move(client_ca).status();
  auto proxy_ca = combined_certificates(ours.proxy_ca, theirs.proxy_ca, now_unix);
  if (!proxy_ca.ok()) return std::move(proxy_ca).status();
  out.client_ca = std::move(*client_ca);
  out.proxy_ca = std::move(*proxy_ca);
  return out;
}

ClusterTrust::ClusterTrust(Host& host)
    : MaintainedConfigMap(host, "extension-apiserver-authentication"), proxy_ca_file_(host.flag(kProxyCa).value_or("")) {
  // The authority in the data directory signs the certificates of administrators. --client-ca-file adds other authorities.
  client_ca_files_.push_back(host.flag("data-dir").value_or("") + "/pki/ca.crt");
  if (std::string file = host.flag(kClientCa).value_or(""); !file.empty()) client_ca_files_.push_back(std::move(file));
  for (const ListRow& row : kLists) flags_.*row.list = flag_list(host, row.key);
}

Result<TrustInfo> ClusterTrust::ours() const {
  TrustInfo out = flags_;
  for (const std::string& file : client_ca_files_) {
    auto text = read_file(file);
    if (!text.ok()) return std::move(text).status();
    out.client_ca += *text;
  }
  if (proxy_ca_file_.empty()) return out;
  auto text = read_file(proxy_ca_file_);
  if (!text.ok()) return std::move(text).status();
  out.proxy_ca = std::move(*text);
  return out;
}

Result<std::optional<Object>> ClusterTrust::wanted(const Object* data) {
  static const Object kNone;
  auto theirs = read_trust(data != nullptr ? *data : kNone);
  if (!theirs.ok()) return std::move(theirs).status();
  auto mine = ours();
  if (!mine.ok()) return std::move(mine).status();
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  auto all = combined(*mine, *theirs, now);
  if (!all.ok()) return std::move(all).status();
  Object out = trust_data(*all);
  if (data != nullptr && *data == out) return std::optional<Object>();
  return std::optional<Object>(std::move(out));
}

}  // namespace backplane::authentication
