# Write the chapters of six novels as a table:
# Rscript experiments/chapters.R LIBRARY/janeaustenr chapters.csv
args <- commandArgs(TRUE)
e <- new.env()
lazyLoad(file.path(args[1], "data", "Rdata"), envir = e)
novels <- c("emma", "mansfieldpark", "northangerabbey", "persuasion", "prideprejudice", "sensesensibility")
rows <- do.call(rbind, lapply(novels, function(name) {
  lines <- get(name, envir = e)
  chapter <- cumsum(grepl("^chapter [0-9ivxlc]+", lines, ignore.case = TRUE))
  texts <- tapply(lines, chapter, paste, collapse = " ")
  texts <- texts[names(texts) != "0"]
  data.frame(novel = name, text = gsub("\\s+", " ", as.vector(texts)))
}))
write.csv(rows, args[2], row.names = FALSE)
