#pragma once

/* How an answer at a gate stands. */
enum gate_answer { GATE_PENDING, GATE_APPROVED, GATE_DENIED, GATE_FAILED };
