// The report of a step, where its pod has it: in the termination message or, where nodes keep too little of that, in an
// annotation that the server of pipelines puts there for the step (main/pipelines/step_reports.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"

namespace pipelines {

inline constexpr const char* kReportAnnotation = "pipelines.kubeflow.org/report";
inline constexpr const char* kReportVolume = "kfp-report";
inline constexpr std::size_t kSentReportMax = 192UL << 10;  // all annotations of an object have 256 KiB

// `message`: the termination message of the step's container.
std::string report_text(const api::Json& pod, std::string_view message);

// The parts of a step whose launcher may send its report: a token of its pod, its mount, and the words that say where
// to. `address`: ADDRESS:PORT of the server; empty: there is none.
api::Json report_volume();
api::Json report_mount();
void add_report_words(const std::string& address, std::string_view ns, std::string_view pod,
                      std::vector<api::Json>& words);

}  // namespace pipelines
