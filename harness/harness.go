// Package harness runs one script against two servers, or more, and says exactly where they part.
//
// There are three things to do with it:
//
//   - Load reads a project: lockstep.yaml, the contract, the scenarios. Every mistake in them is reported at once.
//   - Project.Run starts the targets, walks the scenarios through them side by side, and returns the judgement.
//   - Test does both inside a test of yours, one subtest for each scenario.
//
// Observing and judging are apart. What the targets do is written into a run file as it happens (package transcript);
// what it means is decided by pure functions of that record (packages compare, contract and verdict).
package harness

// Version of lockstep. It stands in run files and reports.
const Version = "0.1.0"
