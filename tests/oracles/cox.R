# Expected values for tests/objectives/test_cox.py: the log partial likelihood, its gradient in each row's log
# hazard and its score, from R's survival package.
#
# Run from the folder of this file:  Rscript cox.R  (writes cox.json)
#
# All data are fixed: no random numbers. The gradient in the log hazards is the weighted martingale
# residual; it is checked here against the score, taken from two other functions of the package.

library(survival)

n <- 30
rows <- 1:n
x1 <- round(sin(7 * rows), 3)
x2 <- round(2 * cos(3 * rows), 3)
weight <- c(0.5, 2, 1, 3.25, 0.1, 1.5)[(5 * rows) %% 6 + 1] + (rows %% 5) / 4
event <- as.integer((rows * rows + rows %/% 3) %% 5 < 3)

# heavy ties: five times, each with several events and several censored rows
tied <- c(2, 5, 3, 1, 4)[(rows * 3 + rows %/% 4) %% 5 + 1]
# no tie: each row its own time
distinct <- (rows * 7) %% 31 + 0.5
# one time: every event tied with every other
single <- rep(4, n)

times <- list(tied = tied, distinct = distinct, single = single)
betas <- list(c(0, 0), c(0.8, -1.3))
stopifnot(all(table(tied, event) >= 2), !anyDuplicated(distinct))

fit_at <- function(time, weights, ties, beta) {
  data <- data.frame(time, event, x1, x2, weights)
  coxph(Surv(time, event) ~ x1 + x2, data, weights = weights, ties = ties, init = beta,
        control = coxph.control(iter.max = 0))
}

number <- function(value) sprintf("%.17g", value)
array <- function(values) paste0("[", paste(number(values), collapse = ", "), "]")
string <- function(value) paste0("\"", value, "\"")
object <- function(...) {
  fields <- list(...)
  paste0("{", paste0(string(names(fields)), ": ", fields, collapse = ",\n "), "}")
}

cases <- character()
for (data in names(times)) for (ties in c("breslow", "efron")) for (weighted in c(FALSE, TRUE)) {
  for (beta in betas) {
    weights <- if (weighted) weight else rep(1, n)
    fit <- fit_at(times[[data]], weights, ties, beta)
    gradient <- unname(weights * residuals(fit, type = "martingale"))
    score <- unname(colSums(residuals(fit, type = "score", weighted = TRUE)))
    stopifnot(all.equal(score, c(sum(gradient * x1), sum(gradient * x2))))
    if (data != "single") {  # coxph.detail fails when there is a single event time
      stopifnot(all.equal(score, unname(colSums(coxph.detail(fit)$score))))
    }
    cases <- c(cases, object(
      time = string(data), ties = string(ties), weighted = if (weighted) "true" else "false",
      beta = array(beta), loglik = number(fit$loglik[1]), score = array(score),
      gradient = array(gradient)
    ))
  }
}

cat(object(
  R = string(R.version.string),
  survival = string(as.character(packageVersion("survival"))),
  event = array(event), weight = array(weight), x1 = array(x1), x2 = array(x2),
  times = do.call(object, lapply(times, array)),
  cases = paste0("[", paste(cases, collapse = ",\n"), "]")
), "\n", file = "cox.json", sep = "")
