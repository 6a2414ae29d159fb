// `backplane doctor`: checks the host, the data directory and the flags of a server that runs or is to be started, and prints how to repair
// each problem.
//
// Thread-safety: the main thread; the result on standard output.
// Errors:        the exit code: 0 no error (there may be warnings), 1 errors, 2 the command line is wrong.
#pragma once

#include <string>
#include <vector>

#include "app/options.hpp"

namespace backplane {

// argv[0] is the word "doctor". The flags of the command and those of the server follow, in any order.
int run_doctor(int argc, char** argv);

enum class DiagnosisLevel : unsigned char { kOk, kWarning, kError };

struct Diagnosis {
  std::string check;  // "disk"
  DiagnosisLevel level = DiagnosisLevel::kOk;
  std::string message;
  std::string fix = {};  // empty for kOk
};
using Diagnoses = std::vector<Diagnosis>;

// The input of the checks.
struct DoctorSubject {
  const Options& options;  // as Options::complete() has made them
  std::string kubeconfig;
  bool running = false;  // a server uses the data directory
};

// defined in doctor_host.cpp
void check_data_directory(const DoctorSubject& subject, Diagnoses& out);
void check_disk(const DoctorSubject& subject, Diagnoses& out);
void check_open_files(const DoctorSubject& subject, Diagnoses& out);
void check_clock(const DoctorSubject& subject, Diagnoses& out);
void check_port(const DoctorSubject& subject, Diagnoses& out);
// defined in doctor_certificates.cpp
void check_certificates(const DoctorSubject& subject, Diagnoses& out);
// defined in doctor_server.cpp
void check_store(const DoctorSubject& subject, Diagnoses& out);
void check_plugins(const DoctorSubject& subject, Diagnoses& out);
void check_kubeconfig(const DoctorSubject& subject, Diagnoses& out);

}  // namespace backplane
