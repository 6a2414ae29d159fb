// The check of certificates (doctor.hpp): their validity now and in the next weeks.
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/doctor.hpp"
#include "backplane/net/client.hpp"

namespace backplane {
namespace {

constexpr int kSoonDays = 30;

struct Validity {
  std::string name;  // the file
  int days_left = 0;
  bool begun = true;
};

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

int days_until(const ASN1_TIME* time) {
  int days = 0, seconds = 0;
  if (ASN1_TIME_diff(&days, &seconds, nullptr, time) != 1) return 0;
  return days == 0 && seconds < 0 ? -1 : days;
}

void add_validities(const std::string& name, const std::string& pem, std::vector<Validity>& out) {
  const std::unique_ptr<BIO, int (*)(BIO*)> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  while (bio != nullptr) {
    const std::unique_ptr<X509, void (*)(X509*)> certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), X509_free);
    if (certificate == nullptr) break;
    const bool begun = X509_cmp_current_time(X509_get0_notBefore(certificate.get())) < 0;
    out.push_back({name, days_until(X509_get0_notAfter(certificate.get())), begun});
  }
}

std::vector<std::string> certificate_files(const Options& options) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(options.secure_serving.cert_dir, error)) {
    if (entry.path().extension() == ".crt") files.push_back(entry.path().string());
  }
  for (const auto& file :
       {options.secure_serving.tls_cert_file, options.authentication.client_ca_file, options.authentication.request_header.client_ca_file,
        options.storage.etcd_cafile, options.storage.etcd_certfile}) {
    if (!file.empty()) files.push_back(file);
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

// A running server renews the certificates that it has made, but not their authority.
std::string certificate_fix(const Options& options, const std::string& file) {
  const bool own = file.starts_with(options.backplane.data_dir + "/");
  if (own && file.ends_with("/ca.crt"))
    return "remove ca.*, admin.* and apiserver.* from its directory, keep sa.key, and restart: all clients need new kubeconfigs";
  return own ? "start the server: it renews its own certificates" : "renew the certificate; the server follows the file";
}

}  // namespace

void check_certificates(const DoctorSubject& subject, Diagnoses& out) {
  std::vector<Validity> all;
  for (const std::string& file : certificate_files(subject.options)) add_validities(file, file_text(file), all);
  if (const auto config = client_config_from_kubeconfig(file_text(subject.kubeconfig)); config.ok()) {
    add_validities(subject.kubeconfig, config->client_certificate, all);
  }
  if (all.empty()) {
    out.push_back({"certificates", DiagnosisLevel::kOk, "there are none yet; the first startup makes them"});
    return;
  }
  const std::size_t before = out.size();
  for (const Validity& each : all) {
    const std::string fix = certificate_fix(subject.options, each.name);
    if (!each.begun) {
      out.push_back({"certificates", DiagnosisLevel::kError, each.name + " is not valid yet", "check the clock"});
    } else if (each.days_left < 0) {
      out.push_back({"certificates", DiagnosisLevel::kError, each.name + " has expired", fix});
    } else if (each.days_left < kSoonDays) {
      out.push_back({"certificates", DiagnosisLevel::kWarning, each.name + " expires in " + std::to_string(each.days_left) + " days", fix});
    }
  }
  if (out.size() > before) return;
  const auto first = std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.days_left < b.days_left; });
  out.push_back({"certificates", DiagnosisLevel::kOk,
                 std::to_string(all.size()) + " are valid; the first to expire is " + first->name + ", in " +
                     std::to_string(first->days_left) + " days"});
}

}  // namespace backplane
