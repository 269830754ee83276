# Expected values for data with entry times, strata, weights and heavy ties, from R's survival package:
# the log partial likelihood, its gradient in each row's log hazard (the weighted martingale residual),
# the cumulative baseline hazard, survival probabilities of three rows, and the concordance.
#
# Run from the folder of this file:  Rscript cox_strata.R  (writes cox_strata.json)
#
# All data are fixed: no random numbers.

library(survival)

n <- 48
rows <- 1:n
x1 <- round(sin(7 * rows), 3)
x2 <- round(2 * cos(3 * rows), 3)
weight <- c(0.5, 2, 1, 3.25, 0.1, 1.5)[(5 * rows) %% 6 + 1] + (rows %% 5) / 4
event <- as.integer((rows * rows + rows %/% 3) %% 5 < 3)
time <- c(3, 6, 4, 2, 5)[(rows * 3 + rows %/% 4) %% 5 + 1]
entry <- pmin(c(0, 1, 0, 2, 3, 0.5, 4)[(rows * 5) %% 7 + 1], time - 1)
stratum <- c("a", "b", "a", "c")[(rows * rows) %/% 5 %% 4 + 1]
new <- c(2, 17, 31)
data <- data.frame(entry, time, event, x1, x2, stratum, weight)

number <- function(value) sprintf("%.17g", value)
array <- function(values) paste0("[", paste(number(values), collapse = ", "), "]")
string <- function(value) paste0("\"", value, "\"")
strings <- function(values) paste0("[", paste(string(values), collapse = ", "), "]")
flag <- function(value) if (value) "true" else "false"
object <- function(...) {
  fields <- list(...)
  paste0("{", paste0(string(names(fields)), ": ", fields, collapse = ",\n "), "}")
}

# one stratum's part of a survfit of one row, at the stratum's own times
curve <- function(fit, row, ties) {
  found <- survfit(fit, newdata = row, stype = 2, ctype = if (ties == "efron") 2 else 1)
  list(time = found$time, hazard = as.vector(found$cumhaz), survival = as.vector(found$surv))
}

cases <- character()
for (truncated in c(FALSE, TRUE)) for (stratified in c(FALSE, TRUE)) for (weighted in c(FALSE, TRUE)) {
  for (ties in c("breslow", "efron")) {
    beta <- c(0.8, -1.3)
    data$w <- if (weighted) weight else rep(1, n)
    data$s <- if (stratified) stratum else "all"
    y <- if (truncated) "Surv(entry, time, event)" else "Surv(time, event)"
    right <- if (stratified) "x1 + x2 + strata(s)" else "x1 + x2"
    fit <- coxph(as.formula(paste(y, "~", right)), data, weights = w, ties = ties, init = beta,
                 control = coxph.control(iter.max = 0))
    data$risk <- beta[1] * x1 + beta[2] * x2
    right <- if (stratified) "risk + strata(s)" else "risk"
    harrell <- concordance(as.formula(paste(y, "~", right)), data, weights = w, reverse = TRUE)
    curves <- character()
    for (s in unique(data$s)) {
      base <- curve(fit, data.frame(x1 = 0, x2 = 0, s = s), ties)
      surv <- lapply(new, function(i) curve(fit, data.frame(x1 = x1[i], x2 = x2[i], s = s), ties)$survival)
      curves <- c(curves, object(
        stratum = string(s), time = array(base$time), hazard = array(base$hazard),
        survival = paste0("[", paste(sapply(surv, array), collapse = ", "), "]")
      ))
    }
    cases <- c(cases, object(
      truncated = flag(truncated), stratified = flag(stratified), weighted = flag(weighted),
      ties = string(ties), loglik = number(fit$loglik[1]),
      gradient = array(unname(data$w * residuals(fit, type = "martingale"))),
      concordance = number(unname(harrell$concordance)),
      curves = paste0("[", paste(curves, collapse = ",\n"), "]")
    ))
  }
}

cat(object(
  R = string(R.version.string),
  survival = string(as.character(packageVersion("survival"))),
  beta = array(beta), new = array(new - 1), x1 = array(x1), x2 = array(x2), weight = array(weight),
  event = array(event), time = array(time), entry = array(entry), stratum = strings(stratum),
  cases = paste0("[", paste(cases, collapse = ",\n"), "]")
), "\n", file = "cox_strata.json", sep = "")
