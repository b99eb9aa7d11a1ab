:- dynamic parserVersionNum/1, parserVersionStr/1, parseResult/5.
:- dynamic module/4.
'parserVersionStr'('0.6.2.1').
'parseResult'('ok','',0,0,0).
:- dynamic channel/2, bindval/3, agent/3.
:- dynamic agent_curry/3, symbol/4.
:- dynamic dataTypeDef/2, subTypeDef/2, nameType/2.
:- dynamic cspTransparent/1.
:- dynamic cspPrint/1.
:- dynamic pragma/1.
:- dynamic comment/2.
:- dynamic assertBool/1, assertRef/5, assertTauPrio/6.
:- dynamic assertModelCheckExt/4, assertModelCheck/3.
:- dynamic assertLtl/4, assertCtl/4.
'parserVersionNum'([0,11,1,1]).
'parserVersionStr'('CSPM-Frontent-0.11.1.1').
'bindval'('Items','setExp'('rangeEnum'(['listExp'('rangeEnum'([])),'listExp'('rangeEnum'(['int'(0)])),'listExp'('rangeEnum'(['int'(1)])),'listExp'('rangeEnum'(['int'(0),'int'(1)])),'listExp'('rangeEnum'(['int'(1),'int'(1)]))])),'src_span'(7,1,7,39,283,38)).
'channel'('put','type'('dotTupleType'(['setExp'('rangeClosed'('int'(0),'int'(1)))]))).
'channel'('get','type'('dotTupleType'(['setExp'('rangeClosed'('int'(0),'int'(1)))]))).
'channel'('look','type'('dotTupleType'(['val_of'('Items','src_span'(9,22,9,27,369,5))]))).
'channel'('load','type'('dotTupleType'(['val_of'('Items','src_span'(9,22,9,27,369,5))]))).
'channel'('reset','type'('dotUnitType')).
'bindval'('MAIN','|||'('val_of'('PRODUCER','src_span'(11,8,11,16,396,8)),'val_of'('CONSUMER','src_span'(11,21,11,29,409,8)),'src_span_operator'('no_loc_info_available','src_span'(11,17,11,20,405,3))),'src_span'(11,1,11,29,389,28)).
'bindval'('PRODUCER','prefix'('src_span'(12,12,12,15,429,3),['out'('int'(0))],'put','prefix'('src_span'(12,21,12,24,438,3),['out'('int'(1))],'put','val_of'('PRODUCER','src_span'(12,30,12,38,447,8)),'src_span'(12,27,12,29,443,14)),'src_span'(12,18,12,20,434,23)),'src_span'(12,1,12,38,418,37)).
'bindval'('CONSUMER','[]'('[]'('prefix'('src_span'(13,12,13,15,467,3),['in'(_x)],'get','val_of'('CONSUMER','src_span'(13,21,13,29,476,8)),'src_span'(13,18,13,20,472,14)),'prefix'('src_span'(13,33,13,38,488,5),[],'reset','prefix'('src_span'(13,42,13,46,497,4),['out'('listExp'('rangeEnum'(['int'(1),'int'(1)])))],'load','val_of'('CONSUMER','src_span'(13,57,13,65,512,8)),'src_span'(13,54,13,56,508,19)),'src_span'(13,39,13,41,493,32)),'src_span_operator'('no_loc_info_available','src_span'(13,30,13,32,485,2))),'prefix'('src_span'(13,69,13,73,524,4),['in'(_s)],'look','ifte'('=='(_s,'listExp'('rangeEnum'(['int'(0),'int'(1)]))),'prefix'('src_span'(13,100,13,105,555,5),[],'dotTuple'(['get','int'(0)]),'val_of'('CONSUMER','src_span'(13,109,13,117,564,8)),'src_span'(13,106,13,108,560,17)),'val_of'('CONSUMER','src_span'(13,123,13,131,578,8)),'no_loc_info_available','no_loc_info_available','src_span'(13,118,13,122,572,31)),'src_span'(13,76,13,78,530,59)),'src_span_operator'('no_loc_info_available','src_span'(13,66,13,68,521,2))),'src_span'(13,1,13,132,456,131)).
'comment'('lineComment'('-- Sequences pass from the script to the machine and back.'),'src_position'(1,1,0,58)).
'comment'('lineComment'('-- guides: Queue.mch'),'src_position'(2,1,59,20)).
'comment'('lineComment'('-- expect: states=19 transitions=44 deadlocks=0 violations=0 verdict=holds prob=different'),'src_position'(3,1,80,89)).
'comment'('lineComment'('-- ltl fails: G ([get] => {size(items) <= 1})'),'src_position'(4,1,170,45)).
'comment'('lineComment'('-- ltl holds: G not deadlock'),'src_position'(5,1,216,28)).
'comment'('lineComment'('-- ltl fails: G ([reset] => X [load])'),'src_position'(6,1,245,37)).
'symbol'('Items','Items','src_span'(7,1,7,6,283,5),'Ident (Groundrep.)').
'symbol'('put','put','src_span'(8,9,8,12,330,3),'Channel').
'symbol'('get','get','src_span'(8,14,8,17,335,3),'Channel').
'symbol'('look','look','src_span'(9,9,9,13,356,4),'Channel').
'symbol'('load','load','src_span'(9,15,9,19,362,4),'Channel').
'symbol'('reset','reset','src_span'(10,9,10,14,383,5),'Channel').
'symbol'('MAIN','MAIN','src_span'(11,1,11,5,389,4),'Ident (Groundrep.)').
'symbol'('PRODUCER','PRODUCER','src_span'(12,1,12,9,418,8),'Ident (Groundrep.)').
'symbol'('CONSUMER','CONSUMER','src_span'(13,1,13,9,456,8),'Ident (Groundrep.)').
'symbol'('x','x','src_span'(13,16,13,17,471,1),'Ident (Prolog Variable)').
'symbol'('s','s','src_span'(13,74,13,75,529,1),'Ident (Prolog Variable)').